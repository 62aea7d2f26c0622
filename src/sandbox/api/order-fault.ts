// POST /sandbox/faults: orders a fault at the simulated banks of the caller's shops, so that a merchant needs no address of a bank.
import { Type } from 'typebox';
import type { Banks } from '../../acquiring/banks.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { CardEnding, DeclineCode, faultsOfOperations } from '../bank/faults.ts';
import type { HandOnFault } from '../fault-orders.ts';

/** Payouts and card checks are of a party and not of a shop. */
const operationKinds = ['authorise', 'capture', 'reverse', 'refund'] as const;

const FaultParams = Type.Object(
  {
    kind: Type.Enum(['decline', ...faultsOfOperations], {
      description: '`decline` declines operations. The others break the exchange with the bank.',
    }),
    code: Type.Optional({
      ...DeclineCode,
      description: "The network's response code, with `decline`. Required there, and only there.",
    }),
    next: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'How many operations. 1 by default.' }),
    ),
    operationKind: Type.Optional(
      Type.Enum([...operationKinds], {
        description: 'Of which kind. `authorise` by default: charges and holds.',
      }),
    ),
    card: Type.Optional({
      ...CardEnding,
      'x-cardNumbers': 'entered',
      description:
        'Only with this test card: its number, or at least its last four digits. With `authorise` alone.',
    }),
    shopID: Type.Optional(
      Type.String({ maxLength: 40, description: 'Only of this shop. All your shops by default.' }),
    ),
    terminal: Type.Optional(Type.String({ maxLength: 40, description: 'Only at this terminal.' })),
  },
  { title: 'FaultParams' },
);

export const orderFault = endpoint({
  operation: 'orderFault',
  access: { scope: 'sandbox' },
  method: 'POST',
  path: '/sandbox/faults',
  tag: 'Sandbox',
  summary: 'Let bank operations of your shops fail',
  description: 'The next charge or hold at the simulated bank of your shops fails, or what you name.',
  body: FaultParams,
  bodyExample: { kind: 'decline', code: '51', next: 2 },
  validateBody: ({ kind, code, card, operationKind = 'authorise' }) => {
    if ((kind === 'decline') !== (code !== undefined))
      return 'Send code with the kind decline, and with no other';
    return card !== undefined && operationKind !== 'authorise'
      ? 'Send card only for the operationKind authorise: other operations do not name it'
      : undefined;
  },
  status: 204,
  errors: ['shopNotFound', 'faultNotOrdered'],
  // It calls the bank, so no transaction may be open. An order too many breaks only what the caller tries.
  ignoresIdempotencyKey: true,
  handle: async (
    { caller, body },
    { banks, merchants, handOnFault }: { banks: Banks; merchants: Merchants; handOnFault: HandOnFault },
  ) => {
    const { shopID, terminal, operationKind = 'authorise', ...fault } = body;
    if (shopID !== undefined && !(await merchants.shop(caller.partyId, shopID)))
      return refuse('shopNotFound');
    const all = await banks.terminalsOf(caller.partyId);
    const ofShop = all.filter(({ shopId }) => shopID === undefined || shopId === shopID);
    const chosen = ofShop.filter(
      ({ id, isShared }) => !isShared && (terminal === undefined || id === terminal),
    );
    const ordered = await Promise.all(
      [...new Set(chosen.map(({ bankId }) => bankId))].map(async (bankId) => {
        const named = chosen
          .filter((one) => one.bankId === bankId)
          .map(({ merchantId: id, id: terminalId }) => ({ id, terminal: terminalId }));
        return handOnFault(bankId, { ...fault, operationKind, merchants: named });
      }),
    );
    return ordered.includes(true) ? accept(undefined) : refuse('faultNotOrdered');
  },
});
