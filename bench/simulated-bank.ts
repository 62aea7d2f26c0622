// npm run bench:bank: measures operations per second of the simulated bank alone, with signed messages over loopback.
// The bank runs in its own process and keeps its journal on disk.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLink } from '../src/acquiring/adapters/http/link.ts';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../src/acquiring/adapters/http/signature.ts';
import { randomIds } from '../src/ids.ts';
import { temporaryFolder } from '../test/support/database/test-cluster.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';
import { processorMs } from './harness/costs.ts';
import { percentile } from './harness/load.ts';
import { mandateProgram, startProgram } from './harness/program.ts';

const { words } = readOptions(
  `npm run bench:bank -- [SECONDS] [CONNECTIONS]
Measures operations per second of the simulated bank alone.
  SECONDS      length of the measurement; 8 by default, 60 at most
  CONNECTIONS  connections at the same time; 64 by default, 200 at most
Example: npm run bench:bank -- 20 64`,
  {},
  { maxWords: 2 },
);
const seconds = Math.min(wholeNumber('the number of seconds', words[0] ?? '8'), 60);
const connections = Math.min(wholeNumber('the number of connections', words[1] ?? '64'), 200);
const warmUpSeconds = 2;
const charge = {
  kind: 'authorise',
  merchant: { id: 'BENCH', terminal: 'BENCH001', descriptor: 'BENCH' },
  amount: 6_000,
  currency: 'RUB',
  capture: true,
  card: { number: '4242424242424242', expiry: '2049-12', securityCode: '123' },
  initiation: { by: 'payer', storesCard: true },
  authentication: 'required',
  returnUrl: 'https://merchant.example/return',
};
const { folder, remove } = temporaryFolder();
const bank = await startProgram([mandateProgram, 'bank'], { MANDATE_DATA: folder });
try {
  const secret = readFileSync(join(folder, 'bank', 'secret'), 'utf8').trim();
  await drive(bank.url, secret, warmUpSeconds);
  const cpuBeforeMs = processorMs(bank.pid);
  const { durationsMs, failures } = await drive(bank.url, secret, seconds);
  const at = (share: number) => percentile(durationsMs, share).toFixed(1);
  console.log(
    `${Math.round(durationsMs.length / seconds)} operations/s over ${connections} connections for ${seconds} s; ` +
      `median ${at(0.5)} ms, 99 % within ${at(0.99)} ms; ${failures} failures; ` +
      `${Math.round(((processorMs(bank.pid) - cpuBeforeMs) * 1_000) / durationsMs.length)} µs of the bank's processor each`,
  );
} finally {
  await bank.stop();
  await remove();
}

async function drive(
  address: string,
  secret: string,
  forSeconds: number,
): Promise<{ durationsMs: number[]; failures: number }> {
  const link = openLink(address, 5_000);
  const durationsMs: number[] = [];
  let failures = 0;
  const end = performance.now() + forSeconds * 1_000;
  const client = async () => {
    for (let startedMs = performance.now(); startedMs < end; startedMs = performance.now()) {
      const target = `/operations/${randomIds.next()}`;
      const body = Buffer.from(JSON.stringify(charge));
      const signature = sign(secret, { method: 'PUT', target, body }, Math.floor(Date.now() / 1_000));
      const headers = {
        'content-type': 'application/json',
        [versionHeader]: protocolVersion,
        [signatureHeader]: signature,
      };
      const exchange = await link.ask({ method: 'PUT', target, headers, body, answerMs: 10_000 });
      if (exchange.kind === 'answer' && exchange.status === 200) {
        durationsMs.push(performance.now() - startedMs);
      } else failures += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  await link.stop();
  return { durationsMs, failures };
}
