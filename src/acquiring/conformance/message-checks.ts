// The promises of the open bank protocol about messages: signatures, versions, wrong fields, repeats. Each check makes
// operations of its own, so that one failure does not hide the next.
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
    promise: 'says that it is well, to anybody',
    async tryIt(bank) {
      const { status } = await bank.send('GET', `${bank.base}/health`, '', { unsigned: true });
      expect(status === 200, `GET /health answers ${status}`);
    },
  },
  refusal('refuses a message without a signature, and does nothing', { unsigned: true }),
  refusal('refuses a signature made with another secret', { secret: 'another secret of 32 characters.' }),
  refusal('refuses a signature from more than five minutes ago', { secondsLate: 400 }),
  refusal('refuses a signature from more than five minutes ahead', { secondsLate: -400 }),
  refusal('refuses a signature of another body', { signedBody: '{}' }),
  refusal('refuses a signature of another path', { signedTarget: '/operations/another' }),
  {
    promise: 'shows its book and its operations only to a signed question',
    async tryIt(bank) {
      const book = await bank.send('GET', `${bank.base}/book?after=0&limit=1`, '', { unsigned: true });
      expectError(book, 401, 'unauthorised');
      expectError(await bank.get(bank.newId(), { unsigned: true }), 401, 'unauthorised');
    },
  },
  {
    promise: 'refuses a version of the protocol that it does not speak',
    async tryIt(bank) {
      const id = bank.newId();
      expectError(await bank.put(id, bank.authorise(), { version: '999' }), 400, 'invalid');
      await expectNeverSeen(bank, id);
    },
  },
  {
    promise: 'says of an operation it never saw that it never saw it',
    tryIt: (bank) => expectNeverSeen(bank, bank.newId()),
  },
  {
    promise: 'names the field that is wrong, and does nothing',
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
          `field ${String(answer.body['field'])}, not ${field}`,
        );
        await expectNeverSeen(bank, id);
      }
      const id = bank.newId();
      expectError(await bank.send('PUT', bank.targetOf(id), 'no json'), 400, 'invalid');
      await expectNeverSeen(bank, id);
    },
  },
  {
    promise: 'charges in one step, says the same when asked, and has it in its book',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      expectSame(await bank.get(id), answer, 'the inquiry');
      const [entry, ...more] = await entriesOf(bank, id);
      expect(
        entry !== undefined && more.length === 0,
        `${more.length + (entry ? 1 : 0)} entries in the book`,
      );
      expect(
        entry.sign === 1 && entry.amount === 6_000,
        `the entry says ${entry.sign} times ${entry.amount}`,
      );
      expect(entry.cardMask.endsWith(bank.cards.approved.slice(-4)), 'the entry names another card');
    },
  },
  {
    promise: 'answers a message that comes again as before, and books it once',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      for (let times = 0; times < 3; times++) {
        expectSame(await bank.put(id, bank.authorise()), answer, 'the repeat');
      }
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'knows a message again without its security code, and with other addresses',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.authorise());
      const { number, expiry } = bank.authorise().card;
      const again = bank.authorise({
        card: { number, expiry },
        returnUrl: 'https://merchant.example/elsewhere',
      });
      expectSame(await bank.put(id, { ...again, payer: undefined }), answer, 'the repeat');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'refuses other content under an id it knows, and changes nothing',
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
      expectSame(await bank.get(id), answer, 'the inquiry');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: `does once what is sent ${atOnce} times at the same moment`,
    async tryIt(bank) {
      const id = bank.newId();
      const answers = await together(atOnce, () => bank.put(id, bank.authorise()));
      const now = await bank.get(id);
      for (const answer of answers) expectSame(answer, now, 'one of the answers');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'declines with a network and a code, says the same when asked, and books nothing',
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await declined(bank, id, bank.authorise({}, bank.cards.declined));
      expectSame(await bank.get(id), answer, 'the inquiry');
      expectSame(await bank.put(id, bank.authorise({}, bank.cards.declined)), answer, 'the repeat');
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
