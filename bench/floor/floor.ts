// The floor: a bare program with the service's requests, rows, transactions, bank calls, HTTP server and driver.
// It has no validation, authentication, vault, rules, idempotency or recovery, so its ratio to the service shows what those cost.
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
