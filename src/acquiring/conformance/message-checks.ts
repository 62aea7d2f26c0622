// Conformance checks of messages: signatures, versions, invalid fields, repeats.
// Each check sends its own operations, so that one failure does not hide the next.
import {
  approved,
  atOnce,
  declined,
  entriesOf,
  expectEntries,
  expectError,
  expectNeverSeen,
  expectSame,
  together,
  type Check,
} from './expectations.ts';
import { expect, type Tampering } from './probe.ts';

export const promisesOfMessages: readonly Check[] = [
  {
    promise: 'answers a health check without a signature',
    async tryIt(bank) {
      const { status } = await bank.send('GET', `${bank.base}/health`, '', { unsigned: true });
      expect(status === 200, `GET /health has status ${status}, not 200`);
    },
  },
  refusal('refuses a message without a signature', { unsigned: true }),
  refusal('refuses a signature made with another secret', { secret: 'another secret of 32 characters.' }),
  refusal('refuses a signature that is more than 300 s old', { secondsLate: 400 }),
  refusal('refuses a signature that is more than 300 s in the future', { secondsLate: -400 }),
  refusal('refuses a signature of another body', { signedBody: '{}' }),
  refusal('refuses a signature of another path', { signedTarget: '/operations/another' }),
  {
    promise: 'refuses to show its operations and its transaction report without a signature',
    async tryIt(bank) {
      const book = await bank.send('GET', `${bank.base}/book?after=0&limit=1`, '', { unsigned: true });
      expectError(book, 401, 'unauthorised');
      expectError(await bank.get(bank.newId(), { unsigned: true }), 401, 'unauthorised');
    },
  },
  {
    promise: 'refuses an unknown protocol version',
    async tryIt(bank) {
      const id = bank.newId();
      expectError(await bank.put(id, bank.authorise(), { version: '999' }), 400, 'invalid');
      await expectNeverSeen(bank, id);
    },
  },
  {
    promise: 'returns notFound for an operation it never received',
    tryIt: (bank) => expectNeverSeen(bank, bank.newId()),
  },
  {
    promise: 'names the invalid field and does nothing',
    async tryIt(bank) {
      const good = bank.authorise();
      const wrong: [field: string, message: object][] = [
        ...[0, -1, 1.5, '100', 1_000_000_000_000].map((amount): [string, object] => [
          'amount',
          { ...good, amount },
        ]),
        ['currency', { ...good, currency: 'rub' }],
        ['kind', { ...good, kind: 'borrow' }],
        ['merchant', { ...good, merchant: undefined }],
        ['card', { ...good, card: { ...good.card, number: '4242' } }],
        ['card', { ...good, card: { ...good.card, expiry: '12/49' } }],
        ['capture', { ...good, capture: 'yes' }],
      ];
      for (const [field, message] of wrong) {
        const id = bank.newId();
        const answer = await bank.put(id, message);
        expectError(answer, 400, 'invalid');
        expect(
          String(answer.body['field']).startsWith(field),
          `the error names the field ${String(answer.body['field'])}, not ${field}`,
        );
        await expectNeverSeen(bank, id);
      }
      const id = bank.newId();
      expectError(await bank.send('PUT', bank.targetOf(id), 'no json'), 400, 'invalid');
      await expectNeverSeen(bank, id);
    },
  },
  {
    promise: 'charges in one step, with the same response to an inquiry and one entry in the report',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      expectSame(await bank.get(id), answer, 'the response to the inquiry');
      const [entry, ...more] = await entriesOf(bank, id);
      expect(
        entry !== undefined && more.length === 0,
        `the transaction report has ${more.length + (entry ? 1 : 0)} entries for it, not 1`,
      );
      expect(
        entry.sign === 1 && entry.amount === 6_000,
        `the entry has sign ${entry.sign} and amount ${entry.amount}, not 1 and 6000`,
      );
      expect(
        entry.cardMask.endsWith(bank.cards.approved.slice(-4)),
        'the entry has the mask of another card',
      );
    },
  },
  {
    promise: 'does a repeated message once, with the same response',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      for (let times = 0; times < 3; times++) {
        expectSame(await bank.put(id, bank.authorise()), answer, 'the response to the repeat');
      }
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'recognises a repeat without the security code and with another return URL',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      const { number, expiry } = bank.authorise().card;
      const again = bank.authorise({
        card: { number, expiry },
        returnUrl: 'https://merchant.example/elsewhere',
      });
      expectSame(await bank.put(id, { ...again, payer: undefined }), answer, 'the response to the repeat');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'refuses other content under a known ID and changes nothing',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      const others = [
        bank.authorise({ amount: 6_001 }),
        bank.authorise({ capture: false }),
        bank.authorise({}, bank.cards.other),
        bank.payout(6_000),
        { kind: 'borrow' },
      ];
      for (const other of others) expectError(await bank.put(id, other), 409, 'conflict');
      expectSame(await bank.get(id), answer, 'the response to the inquiry');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: `does an operation once when it is sent ${atOnce} times in parallel`,
    async tryIt(bank) {
      const id = bank.newId();
      const answers = await together(atOnce, () => bank.put(id, bank.authorise()));
      const now = await bank.get(id);
      for (const answer of answers) expectSame(answer, now, 'one of the parallel responses');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise:
      'declines with a network and a code, with the same response to an inquiry and no entry in the report',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await declined(bank, id, bank.authorise({}, bank.cards.declined));
      expectSame(await bank.get(id), answer, 'the response to the inquiry');
      expectSame(
        await bank.put(id, bank.authorise({}, bank.cards.declined)),
        answer,
        'the response to the repeat',
      );
      await expectEntries(bank, id, 0);
    },
  },
];

function refusal(promise: string, wrong: Tampering): Check {
  return {
    promise,
    async tryIt(bank) {
      const id = bank.newId();
      expectError(await bank.put(id, bank.authorise(), wrong), 401, 'unauthorised');
      await expectNeverSeen(bank, id);
    },
  };
}
