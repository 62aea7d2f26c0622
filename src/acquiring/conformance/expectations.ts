// Assertions of the conformance checks. A failure says what is wrong with the response.
import { Compile } from 'typebox/compile';
import { ErrorAnswer, NeverSeen, OperationAnswer } from '../adapters/http/responses.ts';
import type { BookEntry } from '../adapters/http/messages.ts';
import type { Need } from './needs.ts';
import { expect, type Answer, type Probe } from './probe.ts';

export type Check = {
  readonly promise: string;
  /** What a bank may declare that it cannot do. */
  readonly needs?: readonly Need[];
  readonly tryIt: (bank: Probe) => Promise<void>;
};

export const atOnce = 20;

const operationAnswer = Compile(OperationAnswer);
const neverSeen = Compile(NeverSeen);
const errorAnswer = Compile(ErrorAnswer);

export async function approved(bank: Probe, id: string, message: object): Promise<Answer> {
  return expectOutcome(await bank.put(id, message), id, 'approved');
}

export async function declined(bank: Probe, id: string, message: object): Promise<Answer> {
  return expectOutcome(await bank.put(id, message), id, 'declined');
}

function expectOutcome(answer: Answer, id: string, outcome: string): Answer {
  expectAnswer(answer, id);
  expect(
    answer.body['outcome'] === outcome,
    `the outcome is ${String(answer.body['outcome'])}, not ${outcome}`,
  );
  return answer;
}

export function expectAnswer({ status, body }: Answer, id: string): void {
  expect(status === 200, `the status is ${status}, not 200`);
  expect(operationAnswer.Check(body), 'the response does not match the protocol');
  expect(body.operationId === id, 'the response names another operation');
}

export function expectError({ status, body }: Answer, wanted: number, error: string): void {
  expect(status === wanted, `the status is ${status}, not ${wanted}`);
  expect(
    errorAnswer.Check(body) && body.error === error,
    `the error is ${String(body['error'])}, not ${error}`,
  );
}

export async function expectNeverSeen(bank: Probe, id: string): Promise<void> {
  const { status, body } = await bank.get(id);
  expect(status === 404, `an inquiry about an unknown operation has status ${status}, not 404`);
  expect(
    neverSeen.Check(body) && body.operationId === id,
    'the 404 has no body with outcome notFound and the operation ID',
  );
}

export function expectSame(given: object, wanted: object, what: string): void {
  expect(inOrder(given) === inOrder(wanted), `${what} has different content`);
}

export function expectApprovals(answers: readonly Answer[], wanted: number): void {
  const count = answers.filter(({ body }) => body['outcome'] === 'approved').length;
  expect(count === wanted, `${count} of ${answers.length} were approved, not ${wanted}`);
}

export async function expectEntries(bank: Probe, id: string, wanted: number): Promise<void> {
  const { length } = await entriesOf(bank, id);
  expect(length === wanted, `the transaction report has ${length} entries for the operation, not ${wanted}`);
}

export async function entriesOf(bank: Probe, id: string): Promise<BookEntry[]> {
  return (await bank.book()).filter((entry) => entry.operationId === id);
}

export function together<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, work));
}

/** JSON with sorted members, because their order has no meaning. */
function inOrder(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
