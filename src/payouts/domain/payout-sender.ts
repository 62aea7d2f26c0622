// The sender, the recipient and the purpose of a payout, frozen when it is created: from the request, the identity and the terminal.
import {
  demandedBy,
  type PayoutTerminalTerms,
  type SenderField,
  type SourceOfFunds,
} from '../../acquiring/domain/routing/payout-terminal.ts';
import type { PayoutRecipient, PayoutSender } from '../../acquiring/domain/bank-port.ts';
import { inLatin, senderProblem, type Sender } from '../../identities/domain/sender.ts';
import { defined } from '../../defined.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

/** Money from a bank account or from the sales of a shop. */
const usualSource: SourceOfFunds = '05';
/** A disbursement of funds. */
const usualPurpose = 'FD';
const maxReference = 16;

/** Both forms are kept: what the merchant gave, and what the bank gets. */
export type FrozenSender = {
  readonly given: Sender;
  readonly sent: PayoutSender;
  readonly purpose: string;
  /** Absent for payouts from before, and if the identity of the destination names no person. */
  readonly recipient?: PayoutRecipient;
};

type Wanted = {
  readonly walletId: string;
  readonly network: string;
  readonly terms: PayoutTerminalTerms;
  /** Of the request, before that of the wallet's identity. */
  readonly sender: Sender;
  readonly identity: { readonly name: string; readonly class: string; readonly sender?: Sender };
  readonly purpose?: string;
  readonly recipient?: PayoutRecipient;
};

/** The person of the identity that the destination belongs to. */
export function recipientOf({ firstName, lastName, country }: Sender = {}): PayoutRecipient | undefined {
  if (firstName === undefined) return undefined;
  return inLatin(defined({ firstName, lastName, country }));
}

export function freezeSender(
  wanted: Wanted,
): Outcome<FrozenSender, 'payoutPurposeNotAllowed' | 'payoutSenderIncomplete'> {
  const { walletId, network, terms, identity, recipient } = wanted;
  const { purposes = [usualPurpose], sourceOfFunds = usualSource } = terms;
  const purpose = wanted.purpose ?? purposes[0] ?? usualPurpose;
  if (!purposes.includes(purpose)) {
    return refuse('payoutPurposeNotAllowed', {
      message: `This payout cannot have the purpose ${purpose}. Use ${purposes.join(', ')}, or leave it out.`,
    });
  }
  const given = withCompanyName(senderOf(identity, wanted.sender), identity);
  const missing = demandedBy(terms, network).filter((field) => !isGiven(given, field));
  if (missing.length > 0) {
    return refuse('payoutSenderIncomplete', {
      message: `The bank needs more about the sender of this payout: ${missing.join(', ')}. Send them as sender.`,
      details: { fields: missing.join(', ') },
    });
  }
  const sent = { ...inLatin(given), reference: walletId.slice(-maxReference), sourceOfFunds };
  return accept({ given, sent, purpose, ...defined({ recipient }) });
}

/** For another terminal, which may demand more, and another source of funds. The purpose and the recipient stay. */
export function refreeze(
  { given, purpose, recipient }: FrozenSender,
  walletId: string,
  network: string,
  terms: PayoutTerminalTerms,
): ReturnType<typeof freezeSender> {
  const identity = { name: '', class: 'person' };
  return freezeSender({
    walletId,
    network,
    terms,
    sender: given,
    identity,
    purpose,
    ...defined({ recipient }),
  });
}

/** A request with a name is about another sender, so nothing of the identity's goes with it. */
function senderOf({ sender }: Wanted['identity'], asked: Sender): Sender {
  const isAnother = asked.name !== undefined || asked.firstName !== undefined;
  return isAnother ? asked : { ...sender, ...asked };
}

/** The name of a company's identity, if it is short enough to be sent. */
function withCompanyName(sender: Sender, identity: Wanted['identity']): Sender {
  if (isGiven(sender, 'name') || identity.class !== 'company') return sender;
  const named = { ...sender, name: identity.name };
  return senderProblem(named) === undefined ? named : sender;
}

function isGiven(sender: Sender, field: SenderField): boolean {
  if (field !== 'name') return sender[field] !== undefined;
  return sender.name !== undefined || (sender.firstName !== undefined && sender.lastName !== undefined);
}
