// docs/recurring-charge.md lists the files that a reader of a recurring charge walks through, because they run.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPayment } from '../../../src/payments/api/create-payment.ts';
import { onQuery } from '../../support/database/sent-statements.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import { recordFilesRun } from './files-run.ts';

const page = '../../../docs/recurring-charge.md';
/** What every request and every module uses, and the shapes on the wire. */
const isShared = (path: string) => /^src\/(platform\/|[^/]+$)|\/schema\.ts$/.test(path);
/** The bank of the tests, and what follows a charge. */
const isOutside = (path: string) => /^src\/(sandbox|webhooks)\//.test(path);

let world: PaymentWorld;
beforeAll(async () => {
  world = await startPaymentWorld();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
});

test('the page lists the files whose functions run for a recurring charge', async () => {
  const { charge, invoice, parent: newParent, charged } = recurringWorld(world);
  const parent = await newParent();
  expect(await charged(parent)).toBe('captured');
  const due = await invoice();
  // Time stands still, so that caches keep what the charge before has read.
  const nowMs = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(nowMs);

  const files = recordFilesRun();
  const before: { handler?: Set<string>; row?: Set<string> } = {};
  const { handle } = createPayment;
  vi.spyOn(createPayment, 'handle').mockImplementation((...request) => {
    before.handler = files.take();
    return handle(...request);
  });
  onQuery((name) => {
    if (name === 'start_charge') before.row = files.take();
  });
  expect((await charge(parent, due)).status).toBe(201);
  await world.service.jobs.whenIdle();
  const after = files.take();
  files.stop();

  const { handler = new Set(), row = new Set() } = before;
  await expect(pageOf(handler, row, after)).toMatchFileSnapshot(page);
});

function pageOf(handler: ReadonlySet<string>, row: ReadonlySet<string>, after: ReadonlySet<string>): string {
  const all = sorted([...handler, ...row, ...after]);
  const ofModules = (paths: readonly string[]) => paths.filter((path) => !isShared(path));
  const toRow = ofModules(sorted([...row]));
  const rest = ofModules(all).filter((path) => !toRow.includes(path));
  const shared = all.filter(isShared);
  return `# The files of a recurring charge

<!-- Printed from a charge by \`npx vitest run test/architecture/walk -u\`. -->

A recurring charge runs functions in ${all.length} files before its webhooks. ${toRow.length} of them are between the handler and the row.
The ${shared.length} files in the last list are shared by every request or every module.

## From the handler to the row

The handler is \`createPayment\`, and the row is written by \`start_charge\`.

${listOf(toRow)}

## Before the handler, to the bank and to the receipt

${listOf(rest)}

## Shared

${listOf(shared)}
`;
}

function sorted(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !isOutside(path)).sort();
}

function listOf(paths: readonly string[]): string {
  return paths.map((path) => `- \`${path}\``).join('\n');
}
