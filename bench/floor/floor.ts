// The floor: what the work costs at least. A bare program that takes the same requests, writes the same rows in as many
// transactions, makes the same calls to the bank and answers the same polls, with the same HTTP server and the same driver, and
// does nothing else: no validation, no authentication, no vault, no rules, no repeats, no recovery. It runs in turns with
// the service (bench/service-beside-floor.ts); their ratio says what our care costs.
import { once } from 'node:events';
import fastify from 'fastify';
import { answerBindings } from './bindings.ts';
import { answerCharges } from './charges.ts';
import { bank, pool } from './externals.ts';
import { answerWithdrawals } from './withdrawals.ts';

const app = fastify();
await answerCharges(app);
await answerBindings(app);
await answerWithdrawals(app);
const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(JSON.stringify({ address, msg: 'ready' }));
await once(process, 'SIGTERM');
await app.close();
await bank.stop();
await pool.end();
