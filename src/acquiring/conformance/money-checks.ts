// Conformance checks of money: holds, captures, reversals, refunds, recurring charges, payouts, and the transaction
// report. At the end the report must contain exactly what was approved.
import { Compile } from 'typebox/compile';
import { BookPage, type BookEntry } from '../adapters/http/messages.ts';
import {
  approved,
  atOnce,
  declined,
  entriesOf,
  expectAnswer,
  expectApprovals,
  expectEntries,
  expectSame,
  together,
  type Check,
} from './expectations.ts';
import { expect } from './probe.ts';

const bookPage = Compile(BookPage);

export const moneyChecks: readonly Check[] = [
  {
    promise: 'captures part of a hold, once',
    needs: ['capture', 'partialCapture'],
    async tryIt(bank) {
      const [hold, capture] = [bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      const [held] = await entriesOf(bank, hold);
      expect(
        held?.sign === 0,
        `the hold has the sign ${String(held?.sign)} in the transaction report, not 0`,
      );
      await approved(bank, capture, bank.followUp('capture', hold, 4_000));
      const [captured] = await entriesOf(bank, capture);
      expect(
        captured?.sign === 1 && captured.amount === 4_000,
        'the transaction report does not have the capture as it was sent',
      );
      await declined(bank, bank.newId(), bank.followUp('capture', hold, 2_000));
    },
  },
  {
    promise: 'captures at most the held amount, and only from an open hold',
    needs: ['capture'],
    async tryIt(bank) {
      const [hold, charge, refused] = [bank.newId(), bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      await declined(bank, bank.newId(), bank.followUp('capture', hold, 6_001));
      await approved(bank, charge, bank.authorise());
      await declined(bank, bank.newId(), bank.followUp('capture', charge, 6_000));
      await declined(bank, refused, bank.authorise({ capture: false }, bank.cards.declined));
      await declined(bank, bank.newId(), bank.followUp('capture', refused, 6_000));
      await declined(bank, bank.newId(), bank.followUp('capture', bank.newId(), 6_000));
      // The declined attempts must leave the hold intact.
      await approved(bank, bank.newId(), bank.followUp('capture', hold, 6_000));
    },
  },
  {
    promise: 'captures a hold once when captures are sent in parallel',
    needs: ['capture'],
    async tryIt(bank) {
      const hold = bank.newId();
      await approved(bank, hold, bank.authorise({ capture: false }));
      const answers = await together(atOnce, () =>
        bank.put(bank.newId(), bank.followUp('capture', hold, 6_000)),
      );
      expectApprovals(answers, 1);
    },
  },
  {
    promise: 'reverses a hold permanently',
    needs: ['reverse', 'capture'],
    async tryIt(bank) {
      const [hold, first, second] = [bank.newId(), bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      const answer = await approved(bank, first, bank.reverse(hold));
      expectSame(await bank.put(first, bank.reverse(hold)), answer, 'the response to the repeat');
      await approved(bank, second, bank.reverse(hold));
      bank.expectNoEntry(second);
      await expectEntries(bank, first, 1);
      await declined(bank, bank.newId(), bank.followUp('capture', hold, 6_000));
    },
  },
  {
    promise: 'reverses a one-step charge, and then declines its refund',
    needs: ['reverse', 'refund'],
    async tryIt(bank) {
      const [charge, reversal] = [bank.newId(), bank.newId()];
      await approved(bank, charge, bank.authorise());
      await approved(bank, reversal, bank.reverse(charge));
      const [entry] = await entriesOf(bank, reversal);
      expect(
        entry?.sign === -1 && entry.amount === 6_000,
        'the transaction report does not have the reversal with sign -1 and the full amount',
      );
      await declined(bank, bank.newId(), bank.followUp('refund', charge, 1_000));
    },
  },
  {
    promise: 'declines to reverse a captured hold or a refunded charge',
    needs: ['capture', 'refund', 'reverse'],
    async tryIt(bank) {
      const [hold, charge] = [bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      await approved(bank, bank.newId(), bank.followUp('capture', hold, 6_000));
      await declined(bank, bank.newId(), bank.reverse(hold));
      await approved(bank, charge, bank.authorise());
      await approved(bank, bank.newId(), bank.followUp('refund', charge, 1_000));
      await declined(bank, bank.newId(), bank.reverse(charge));
    },
  },
  {
    promise: 'approves the reversal of an operation it never received, and declines the operation later',
    needs: ['reverse'],
    async tryIt(bank) {
      const [late, reversal] = [bank.newId(), bank.newId()];
      await approved(bank, reversal, bank.reverse(late));
      bank.expectNoEntry(reversal);
      await declined(bank, late, bank.authorise());
      await expectEntries(bank, late, 0);
      await expectEntries(bank, reversal, 0);
    },
  },
  {
    promise: 'approves the reversal of a declined operation, without moving money',
    needs: ['reverse'],
    async tryIt(bank) {
      const [refused, reversal] = [bank.newId(), bank.newId()];
      await declined(bank, refused, bank.authorise({}, bank.cards.declined));
      await approved(bank, reversal, bank.reverse(refused));
      bank.expectNoEntry(reversal);
      await expectEntries(bank, reversal, 0);
    },
  },
  {
    promise: 'refunds in parts, up to the captured amount',
    needs: ['refund', 'capture', 'partialCapture'],
    async tryIt(bank) {
      const [charge, refund, hold] = [bank.newId(), bank.newId(), bank.newId()];
      await approved(bank, charge, bank.authorise());
      await approved(bank, refund, bank.followUp('refund', charge, 4_000));
      const [entry] = await entriesOf(bank, refund);
      expect(
        entry?.sign === -1 && entry.amount === 4_000,
        'the transaction report does not have the refund as it was sent',
      );
      await declined(bank, bank.newId(), bank.followUp('refund', charge, 2_001));
      await approved(bank, bank.newId(), bank.followUp('refund', charge, 2_000));
      await declined(bank, bank.newId(), bank.followUp('refund', charge, 1));
      await approved(bank, hold, bank.authorise({ capture: false }));
      await declined(bank, bank.newId(), bank.followUp('refund', hold, 1_000));
      await approved(bank, bank.newId(), bank.followUp('capture', hold, 3_000));
      await declined(bank, bank.newId(), bank.followUp('refund', hold, 3_001));
    },
  },
  {
    promise: 'refunds at most the captured amount when refunds are sent in parallel',
    needs: ['refund'],
    async tryIt(bank) {
      const charge = bank.newId();
      await approved(bank, charge, bank.authorise());
      const answers = await together(atOnce, () =>
        bank.put(bank.newId(), bank.followUp('refund', charge, 1_800)),
      );
      expectApprovals(answers, 3);
    },
  },
  {
    promise: 'charges without the payer only after they consented with the same card',
    needs: ['recurring'],
    async tryIt(bank) {
      const [first, unagreed] = [bank.newId(), bank.newId()];
      const { body } = await approved(
        bank,
        first,
        bank.authorise({ initiation: { by: 'payer', storesCard: true } }),
      );
      const root = body['networkTransactionId'];
      expect(typeof root === 'string', 'the first payment has no networkTransactionId');
      const later = (rootNetworkTransactionId?: string, card?: string) => {
        const initiation = {
          by: 'merchant',
          reason: 'recurring',
          ...(rootNetworkTransactionId ? { rootNetworkTransactionId } : {}),
        } as const;
        return bank.authorise({ initiation, authentication: 'none' }, card);
      };
      const second = await approved(bank, bank.newId(), later(root));
      const { initiation } = later(root);
      const previousNetworkTransactionId = String(second.body['networkTransactionId']);
      const third = bank.authorise({
        initiation: { ...initiation, previousNetworkTransactionId },
        authentication: 'none',
      });
      await approved(bank, bank.newId(), third);
      await declined(bank, bank.newId(), later());
      await declined(bank, bank.newId(), later('999999999999999'));
      await declined(bank, bank.newId(), later(root, bank.cards.other));
      const once = await approved(bank, unagreed, bank.authorise());
      await declined(bank, bank.newId(), later(String(once.body['networkTransactionId'])));
    },
  },
  {
    promise: 'verifies a card for payouts without moving money',
    needs: ['verify'],
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.verify());
      expectSame(await bank.put(id, bank.verify()), answer, 'the response to the repeat');
      expectSame(await bank.get(id), answer, 'the response to the inquiry');
      bank.expectNoEntry(id);
      await expectEntries(bank, id, 0);
    },
  },
  {
    promise: 'pays out to a card once',
    needs: ['payout'],
    async tryIt(bank) {
      const id = bank.newId();
      const answer = await approved(bank, id, bank.payout(2_500));
      expectSame(await bank.put(id, bank.payout(2_500)), answer, 'the response to the repeat');
      const [entry, ...more] = await entriesOf(bank, id);
      expect(
        more.length === 0 && entry?.sign === -1 && entry.amount === 2_500,
        'the transaction report does not have the payout once, as it was sent',
      );
    },
  },
  {
    promise: 'pays out with a sender and a purpose, which may be missing in a repeat',
    needs: ['payout'],
    async tryIt(bank) {
      const id = bank.newId();
      const sender = {
        firstName: 'CONFORMANCE',
        lastName: 'CHECK',
        address: '1 EXAMPLE STREET',
        city: 'EXAMPLE',
        country: 'RUS',
        reference: 'CHECK',
        sourceOfFunds: '05',
      };
      const answer = await approved(bank, id, bank.payout(2_600, { sender, purpose: 'FD' }));
      expectSame(await bank.put(id, bank.payout(2_600)), answer, 'the response to the repeat');
    },
  },
  {
    promise: 'waits for the payer to confirm, until the operation is reversed',
    needs: ['hosted', 'reverse'],
    async tryIt(bank) {
      const [id, reversal] = [bank.newId(), bank.newId()];
      const message = bank.authorise({ authentication: 'required' }, bank.cards.challenged);
      const answer = await bank.put(id, message);
      expect(answer.body['outcome'] === 'payerNeeded', `the outcome is ${String(answer.body['outcome'])}`);
      expectAnswer(answer, id);
      expectSame(await bank.put(id, message), answer, 'the response to the repeat');
      expectSame(await bank.get(id), answer, 'the response to the inquiry');
      await expectEntries(bank, id, 0);
      await approved(bank, reversal, bank.reverse(id));
      bank.expectNoEntry(reversal);
      await declined(bank, id, message);
    },
  },
  {
    promise: 'serves its transaction report in order and in pages',
    async tryIt(bank) {
      const whole = await bank.book();
      expect(
        bookPage.Check({ entries: whole }),
        'an entry of the transaction report does not match the protocol',
      );
      const isOrdered = whole.every((entry, place) => entry.sequence > (whole[place - 1]?.sequence ?? 0));
      expect(isOrdered, 'the sequence of the transaction report does not increase');
      const last = whole.slice(-10);
      const before = whole.at(-11)?.sequence ?? 0;
      const paged: BookEntry[] = [];
      for (let after = before; paged.length < last.length; after = paged.at(-1)?.sequence ?? after) {
        const page = await bank.page(after, 3);
        expect(page.length > 0 && page.length <= 3, `a page with limit=3 has ${page.length} entries`);
        paged.push(...page);
      }
      expectSame(paged.slice(0, last.length), last, 'the transaction report read in pages');
    },
  },
  {
    promise: 'still has every outcome at the end, and exactly the approved operations in its report',
    async tryIt(bank) {
      const counts = new Map<string, number>();
      for (const { operationId } of await bank.book()) {
        counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
      }
      for (const [id, { kind, outcome, movesMoney }] of bank.promised) {
        const answer = await bank.get(id);
        expect(
          answer.status === 200 && answer.body['outcome'] === outcome,
          `${kind} was ${outcome}, but an inquiry returns ${String(answer.body['outcome'])} with status ${answer.status}`,
        );
        const count = counts.get(id) ?? 0;
        expect(
          count === (movesMoney ? 1 : 0),
          `${kind} was ${outcome}, but the transaction report has ${count} entries for it`,
        );
      }
    },
  },
];
