// Conformance checks of what a bank declares beyond the first version of the protocol.
import { Compile } from 'typebox/compile';
import { AbilitiesAnswer, UpdatePage } from '../adapters/http/capabilities.ts';
import { abilitiesOf } from '../adapters/http/read-capabilities.ts';
import type { Exemption } from '../domain/authentication.ts';
import type { NetworkId } from '../domain/references.ts';
import {
  approved,
  declined,
  expectAnswer,
  expectEntries,
  expectError,
  expectNeverSeen,
  expectSame,
  type Check,
} from './expectations.ts';
import { expect } from './probe.ts';
import { defined } from '../../defined.ts';

const abilitiesAnswer = Compile(AbilitiesAnswer);
const updatePage = Compile(UpdatePage);
/** More are not tried. */
const mostAtOnce = 50;
const proof = {
  version: '2.2.0',
  status: 'Y',
  eci: '05',
  value: 'AAABBZEEBgAAAAAAAAQGAAAAAAA=',
  dsTransId: 'f25084f0-5b16-4c0a-ae5d-b24808a95e4b',
  at: '2026-11-24T09:00:00Z',
};

export const abilityChecks: readonly Check[] = [
  {
    promise: 'declares its abilities as documented, and only with a signature',
    needs: ['declared'],
    async tryIt(bank) {
      const { status, body } = await bank.send('GET', `${bank.base}/abilities`, '');
      expect(status === 200, `GET /abilities has status ${status}, not 200`);
      const [first] = abilitiesAnswer.Errors(body);
      expect(!first, `${first?.instancePath.slice(1)} does not match the protocol`);
      expect(abilitiesOf(body)?.repeatableMs !== 0, 'repeatable is neither always nor a time such as P7D');
      expectError(
        await bank.send('GET', `${bank.base}/abilities`, '', { unsigned: true }),
        401,
        'unauthorised',
      );
    },
  },
  {
    promise: 'takes as many operations at once, and within a second, as it declares',
    needs: ['limits'],
    async tryIt(bank) {
      const { perSecond = mostAtOnce, atOnce: most = mostAtOnce } = bank.limits();
      const count = Math.min(perSecond, most, mostAtOnce);
      const ids = Array.from({ length: count }, () => bank.newId());
      const answers = await Promise.all(ids.map((id) => bank.put(id, bank.authorise())));
      const refused = answers.filter(({ status }) => status === 429 || status === 503).length;
      expect(refused === 0, `${refused} of ${count} operations were not done`);
    },
  },
  {
    promise: 'does not begin an operation after notAfter',
    needs: ['declared'],
    async tryIt(bank) {
      const [late, intime] = [bank.newId(), bank.newId()];
      await declined(bank, late, bank.authorise({ notAfter: '2020-01-01T00:00:00Z' }));
      await expectEntries(bank, late, 0);
      await approved(bank, intime, bank.authorise({ notAfter: '2096-01-01T00:00:00Z' }));
    },
  },
  {
    promise: 'recognises a repeat without a later field, and refuses one that changes it',
    needs: ['declared'],
    async tryIt(bank) {
      const id = bank.newId();
      const stores = { for: 'recurring', amount: 'fixed' } as const;
      const initiation = { by: 'payer', storesCard: true } as const;
      const first = bank.authorise({ initiation: { ...initiation, stores } });
      const answer = await approved(bank, id, first);
      expectSame(await bank.put(id, bank.authorise({ initiation })), answer, 'the response to the repeat');
      const changed = { ...initiation, stores: { ...stores, amount: 'variable' as const } };
      expectError(await bank.put(id, bank.authorise({ initiation: changed })), 409, 'conflict');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'takes the network IDs of a series in a list',
    needs: ['declared', 'recurring'],
    async tryIt(bank) {
      const [first, next, later, other] = [bank.newId(), bank.newId(), bank.newId(), bank.newId()];
      const storing = bank.authorise({ initiation: { by: 'payer', storesCard: true } });
      const { body } = await approved(bank, first, storing);
      const rootNetworkIds = [...((body['networkIds'] ?? []) as NetworkId[])];
      expect(rootNetworkIds.length > 0, 'the approval that stores a card has no networkIds');
      const initiation = { by: 'merchant', reason: 'recurring', rootNetworkIds } as const;
      const charge = { initiation, authentication: 'none' } as const;
      const { body: ofNext } = await approved(bank, next, bank.authorise(charge));
      const previousNetworkIds = [...((ofNext['networkIds'] ?? []) as NetworkId[])];
      const named = previousNetworkIds.length > 0 ? { previousNetworkIds } : {};
      await approved(bank, later, bank.authorise({ ...charge, initiation: { ...initiation, ...named } }));
      await declined(bank, other, bank.authorise(charge, bank.cards.other));
    },
  },
  {
    promise:
      'takes what a charge without the payer says of its amount and resubmission, and does a repeat without them once',
    needs: ['declared', 'recurring'],
    async tryIt(bank) {
      const [first, next] = [bank.newId(), bank.newId()];
      const stores = { for: 'recurring', amount: 'fixed' } as const;
      const storing = bank.authorise({ initiation: { by: 'payer', storesCard: true, stores } });
      const { body } = await approved(bank, first, storing);
      const root = body['networkTransactionId'];
      const named = typeof root === 'string' ? { rootNetworkTransactionId: root } : {};
      const older = { by: 'merchant', reason: 'recurring', ...named } as const;
      const initiation = { ...older, amount: 'fixed', resubmission: true } as const;
      const charge = (more: typeof older | typeof initiation) =>
        bank.authorise({ initiation: more, authentication: 'none' });
      const answer = await approved(bank, next, charge(initiation));
      expectSame(await bank.put(next, charge(older)), answer, 'the response to a repeat without the fields');
      const { resubmission: _, ...once } = initiation;
      expectSame(await bank.put(next, charge(once)), answer, 'the response to a repeat without resubmission');
      const changed = bank.authorise({
        initiation: { ...initiation, amount: 'variable' },
        authentication: 'none',
      });
      expectError(await bank.put(next, changed), 409, 'conflict');
      await expectEntries(bank, next, 1);
    },
  },
  {
    promise: 'charges at no regular times where the payer agreed to that',
    needs: ['unscheduled'],
    async tryIt(bank) {
      const [first, next] = [bank.newId(), bank.newId()];
      const stores = { for: 'unscheduled', amount: 'variable' } as const;
      const storing = bank.authorise({ initiation: { by: 'payer', storesCard: true, stores } });
      const { body } = await approved(bank, first, storing);
      const root = body['networkTransactionId'];
      const initiation = {
        by: 'merchant',
        reason: 'unscheduled',
        ...(typeof root === 'string' ? { rootNetworkTransactionId: root } : {}),
      } as const;
      await approved(bank, next, bank.authorise({ initiation, authentication: 'none' }));
    },
  },
  {
    promise: 'takes facts of the merchant, which may be missing or different in a repeat',
    needs: ['declared'],
    async tryIt(bank) {
      const id = bank.newId();
      const message = bank.authorise();
      const facts = { mcc: '5734', name: 'CONFORMANCE', city: 'EXAMPLE', country: 'RUS', subMerchant: 'S-1' };
      const told = (more: object) => ({ ...message, merchant: { ...message.merchant, ...more } });
      const answer = await approved(bank, id, told(facts));
      expectSame(await bank.put(id, message), answer, 'the response to a repeat without the facts');
      const changed = told({ ...facts, mcc: '5735' });
      expectSame(await bank.put(id, changed), answer, 'the response to a repeat with other facts');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'charges an instalment once, whether or not its repeat says which one it is',
    needs: ['declared', 'instalment'],
    async tryIt(bank) {
      const [first, next] = [bank.newId(), bank.newId()];
      const stores = { for: 'instalment', amount: 'fixed' } as const;
      const storing = bank.authorise({ initiation: { by: 'payer', storesCard: true, stores } });
      const { body } = await approved(bank, first, storing);
      const root = body['networkTransactionId'];
      const initiation = {
        by: 'merchant',
        reason: 'instalment',
        amount: 'fixed',
        ...(typeof root === 'string' ? { rootNetworkTransactionId: root } : {}),
      } as const;
      const charge = (sequence?: { readonly number: number; readonly of: number }) =>
        bank.authorise({ initiation: { ...initiation, ...defined({ sequence }) }, authentication: 'none' });
      const answer = await approved(bank, next, charge({ number: 2, of: 4 }));
      expectSame(await bank.put(next, charge()), answer, 'the response to a repeat without the sequence');
      expectError(await bank.put(next, charge({ number: 3, of: 4 })), 409, 'conflict');
      await expectEntries(bank, next, 1);
    },
  },
  {
    promise: 'pays out to a named recipient once, whether or not its repeat names them',
    needs: ['declared', 'payout'],
    async tryIt(bank) {
      const id = bank.newId();
      const recipient = { firstName: 'CONFORMANCE', lastName: 'CHECK', country: 'RUS' };
      const answer = await approved(bank, id, bank.payout(2_700, { recipient }));
      expectSame(await bank.put(id, bank.payout(2_700)), answer, 'the response to a repeat without them');
      const other = { ...recipient, lastName: 'ANOTHER' };
      expectError(await bank.put(id, bank.payout(2_700, { recipient: other })), 409, 'conflict');
      await expectEntries(bank, id, 1);
    },
  },
  {
    promise: 'captures a hold in parts, until a capture is final',
    needs: ['capture', 'severalCaptures'],
    async tryIt(bank) {
      const [hold, first, second] = [bank.newId(), bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      await approved(bank, first, { ...bank.followUp('capture', hold, 2_000), final: false });
      await declined(bank, bank.newId(), { ...bank.followUp('capture', hold, 4_001), final: false });
      await approved(bank, second, { ...bank.followUp('capture', hold, 3_000), final: true });
      await declined(bank, bank.newId(), bank.followUp('capture', hold, 1_000));
      await expectEntries(bank, first, 1);
      await expectEntries(bank, second, 1);
    },
  },
  {
    promise: 'releases a part of a hold, and captures at most the rest',
    needs: ['capture', 'reverse', 'partialReversal'],
    async tryIt(bank) {
      const [hold, release] = [bank.newId(), bank.newId()];
      await approved(bank, hold, bank.authorise({ capture: false }));
      const answer = await approved(bank, release, bank.release(hold, 2_000));
      expectSame(await bank.put(release, bank.release(hold, 2_000)), answer, 'the response to the repeat');
      await declined(bank, bank.newId(), bank.release(hold, 4_001));
      await declined(bank, bank.newId(), bank.followUp('capture', hold, 4_001));
      await approved(bank, bank.newId(), bank.followUp('capture', hold, 4_000));
    },
  },
  {
    promise: 'takes an authentication from elsewhere, and declines one that failed',
    needs: ['given'],
    async tryIt(bank) {
      const [good, bad] = [bank.newId(), bank.newId()];
      const given = { authentication: 'given', authenticated: proof } as const;
      await approved(bank, good, bank.authorise(given, bank.cards.challenged));
      const failed = { ...given, authenticated: { ...proof, status: 'N' } };
      await declined(bank, bad, bank.authorise(failed, bank.cards.challenged));
    },
  },
  {
    promise: 'takes an exemption, and asks no payer',
    needs: ['given'],
    async tryIt(bank) {
      const id = bank.newId();
      const exempt = (exemption: Exemption) =>
        bank.authorise({ authentication: 'given', exemption }, bank.cards.challenged);
      const answer = await bank.put(id, exempt('lowValue'));
      expectAnswer(answer, id);
      const { outcome } = answer.body;
      expect(outcome === 'approved' || outcome === 'declined', `the outcome is ${String(outcome)}`);
      expectSame(await bank.put(id, exempt('lowValue')), answer, 'the response to the repeat');
      expectError(await bank.put(id, exempt('secureCorporate')), 409, 'conflict');
      await expectEntries(bank, id, outcome === 'approved' ? 1 : 0);
    },
  },
  {
    promise: 'approves nothing without a challenge that the message demands',
    needs: ['declared', 'hosted', 'reverse'],
    async tryIt(bank) {
      const [id, reversal] = [bank.newId(), bank.newId()];
      // A test card may have no challenge: then it is declined.
      const message = bank.authorise({ authentication: 'required', demandsChallenge: true });
      const answer = await bank.put(id, message);
      expectAnswer(answer, id);
      const { outcome } = answer.body;
      expect(outcome === 'payerNeeded' || outcome === 'declined', `the outcome is ${String(outcome)}`);
      const { demandsChallenge: _, ...older } = message;
      expectSame(await bank.put(id, older), answer, 'the response to a repeat without the field');
      await expectEntries(bank, id, 0);
      await approved(bank, reversal, bank.reverse(id));
      bank.expectNoEntry(reversal);
      await declined(bank, id, message);
    },
  },
  {
    promise: 'believes a return of the browser only if it belongs to the operation, and takes it twice',
    needs: ['returns', 'hosted'],
    async tryIt(bank) {
      const id = bank.newId();
      const message = bank.authorise({ authentication: 'required' }, bank.cards.challenged);
      const waiting = await bank.put(id, message);
      expectAnswer(waiting, id);
      const foreign = { method: 'GET', query: 'redirectResult=of-another&PaRes=eJx', form: 'cres=e30' };
      for (let times = 0; times < 2; times++) {
        const answer = await bank.giveBack(id, foreign);
        expectSame(answer, waiting, 'the response to a return that belongs to another operation');
      }
      const large = await bank.giveBack(id, { method: 'POST', query: '', form: 'x'.repeat(65_536) });
      expectSame(large, waiting, 'the response to a return of 64 KiB');
      expectError(await bank.giveBack(id, foreign, { unsigned: true }), 401, 'unauthorised');
      const unknown = bank.newId();
      const { status } = await bank.giveBack(unknown, foreign);
      expect(status === 404, `a return to an unknown operation has status ${status}, not 404`);
      await expectNeverSeen(bank, unknown);
    },
  },
  {
    promise: 'reports updates in order and in pages, and only with a signature',
    needs: ['updates'],
    async tryIt(bank) {
      const target = (after: number, limit: number) => `${bank.base}/updates?after=${after}&limit=${limit}`;
      const { status, body } = await bank.send('GET', target(0, 100), '');
      expect(status === 200, `GET /updates has status ${status}, not 200`);
      expect(updatePage.Check(body), 'the updates do not match the protocol');
      const sequences = body.updates.map(({ sequence }) => sequence);
      const isRising = sequences.every((one, place) => one > (sequences[place - 1] ?? 0));
      expect(isRising, 'the updates are not in the order of their sequence');
      const last = sequences.at(-1) ?? 0;
      const { body: after } = await bank.send('GET', target(last, 1), '');
      expect(
        updatePage.Check(after) && after.updates.every(({ sequence }) => sequence > last),
        'an update before `after` is returned again',
      );
      expectError(await bank.send('GET', target(0, 100), '', { unsigned: true }), 401, 'unauthorised');
    },
  },
];
