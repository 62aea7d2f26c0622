// kill -9 of the simulated bank under load: it repeats every acknowledged response word for word.
// Its report has exactly the approved operations, once each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { often } from '../support/service/campaign.ts';
import {
  authorise,
  capture,
  refund,
  reverse,
  bankClientAt,
  type Reply,
} from '../support/bank/simulated-bank.ts';
import { eventually, mandate } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';

const clients = 20;
const kills = 3;
const acknowledgedBeforeKill = often(80, 300);

type Process = { readonly url: string; kill(signal: NodeJS.Signals): Promise<number | null> };

async function startBankProcess(data: string): Promise<Process> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [inject('builtProgram'), 'bank'], {
    env: { PATH, HOME, MANDATE_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { address } = JSON.parse(line) as { address: string };
  return {
    url: address,
    async kill(signal) {
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

test('a bank killed while 20 clients move money loses and duplicates nothing', async () => {
  const { folder: data, remove } = temporaryFolder();
  onTestFinished(remove);
  const asked = new Map<string, object>();
  const acknowledged = new Map<string, Reply>();
  let secret = '';

  for (let round = 0; round < kills; round++) {
    const bank = await startBankProcess(data);
    secret = readFileSync(join(data, 'bank', 'secret'), 'utf8').trim();
    const processor = bankClientAt(bank.url, secret);
    const before = acknowledged.size;
    let running = true;
    const put = async (id: string, message: object) => {
      asked.set(id, message);
      const reply = await processor.put(id, message).catch(() => undefined);
      if (reply?.status === 200) acknowledged.set(id, reply);
    };
    const client = async (number: number) => {
      for (let n = 0; running; n++) {
        const id = `${round}-${number}-${n}`;
        const isHold = n % 2 === 0;
        await put(id, authorise({ capture: !isHold, initiation: { by: 'payer', storesCard: true } }));
        if (isHold) await put(`${id}.c`, capture(id, 4_000));
        await Promise.all([put(`${id}.f1`, refund(id, 3_000)), put(`${id}.f2`, refund(id, 3_500))]);
        if (n % 3 === 0) await put(`${id}.r`, reverse(id));
      }
    };
    const all = Array.from({ length: clients }, (_, number) => client(number));
    const enough = async () => acknowledged.size - before >= acknowledgedBeforeKill || undefined;
    await eventually(enough, 30_000, `${acknowledgedBeforeKill} operations acknowledged`);
    await bank.kill('SIGKILL');
    running = false;
    await Promise.all(all);
  }

  const bank = await startBankProcess(data);
  const processor = bankClientAt(bank.url, secret);
  const outcomes = new Map<string, string>();
  for (const id of asked.keys()) {
    const now = await processor.get(id);
    const said = acknowledged.get(id);
    if (said) expect(now, `${id} was acknowledged`).toEqual(said);
    else expect([200, 404]).toContain(now.status);
    outcomes.set(id, now.body.outcome);
  }

  const book = await processor.book();
  const entries = new Map<string, number>();
  const balance = new Map<string, number>();
  for (const { operationId, originalOperationId = operationId, sign, amount } of book) {
    entries.set(operationId, (entries.get(operationId) ?? 0) + 1);
    balance.set(originalOperationId, (balance.get(originalOperationId) ?? 0) + sign * amount);
  }
  for (const [id, message] of asked) {
    // The reversal of an operation the bank never received moves no money.
    const original = 'originalOperationId' in message ? String(message.originalOperationId) : id;
    const movesMoney = outcomes.get(id) === 'approved' && outcomes.get(original) === 'approved';
    expect(entries.get(id) ?? 0, `${id} in the report`).toBe(movesMoney ? 1 : 0);
  }
  expect([...entries.keys()].filter((id) => !asked.has(id))).toEqual([]);
  // Only one of two parallel refunds fitted, so no payer was refunded more than they had paid.
  for (const [id, minor] of balance) expect(minor, `the rest of ${id}`).toBeGreaterThanOrEqual(0);
  expect(acknowledged.size).toBeGreaterThanOrEqual(kills * acknowledgedBeforeKill);
  expect(book.every(({ sequence }, place) => sequence === place + 1)).toBe(true);
  expect(await bank.kill('SIGTERM')).toBe(0);
}, 120_000);

test('mandate bank conformance prints numbered checks and fails when a check fails', async () => {
  const { folder: data, remove } = temporaryFolder();
  onTestFinished(remove);
  const bank = await startBankProcess(data);
  const secret = readFileSync(join(data, 'bank', 'secret'), 'utf8').trim();
  const check = (...more: string[]) =>
    mandate(['bank', 'conformance', '--url', bank.url, ...more], { BANK_SECRET: secret });
  const good = await check();
  expect(good.output).toMatch(/^ 1 {2}.*pass.* {2}answers a health check without a signature/);
  expect(good.output).toMatch(/\d+ passed, 0 failed\.\n$/);
  expect(good.code).toBe(0);
  // An approved card is given as the declined one.
  const bad = await check('--declined-card', '4242424242424242');
  expect(bad.output).toContain('the outcome is approved, not declined');
  expect(bad.code).toBe(1);
  const second = await mandate(['bank'], { MANDATE_DATA: data });
  expect(second.errors).toContain(`runs already, at ${bank.url}`);
  expect(second.code).toBe(1);
  expect(await bank.kill('SIGTERM')).toBe(0);
}, 60_000);
