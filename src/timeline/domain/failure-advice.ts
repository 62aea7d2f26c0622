// What each failure of a payment, refund, binding or payout means, and who can help. The errors page prints it; `npm run docs` finds a
// failure without an entry.
import type { WholePhrase } from './phrases.ts';

export type FailureAdvice = {
  readonly meaning: WholePhrase;
  readonly who: WholePhrase;
  readonly what: WholePhrase;
};

const say = (meaning: WholePhrase, who: WholePhrase, what: WholePhrase): FailureAdvice => ({
  meaning,
  who,
  what,
});
const anotherCard = 'Ask them for another card.';
const callBank = 'Ask them to call their bank, or for another card.';
const rejected = 'authorization_failed › payment_tool_rejected';

export const failureAdvice: Readonly<Record<string, FailureAdvice>> = {
  'account_limit_exceeded › amount': say(
    'The wallet had too little money when the payout began.',
    'you',
    'Put money into the wallet, and create the payout again.',
  ),
  'authorization_failed › account_blocked': say(
    'The account or the card is blocked.',
    'the cardholder',
    callBank,
  ),
  'authorization_failed › account_limit_exceeded › amount': say(
    'The amount is above a limit of the card.',
    'time, or the cardholder',
    'Retry on another day, or with less.',
  ),
  'authorization_failed › account_limit_exceeded › number': say(
    'The card was used too often.',
    'time',
    'Retry on another day.',
  ),
  'authorization_failed › account_not_found': say('The card has no account.', 'the cardholder', anotherCard),
  'authorization_failed › account_stolen': say(
    'The card is lost or stolen; `bank.code` says which.',
    'the cardholder',
    'Do not try this card again. Do not say why.',
  ),
  'authorization_failed › destination_rejected › bank_card_rejected › card_number_invalid': say(
    'The bank does not know the card number.',
    'the cardholder',
    anotherCard,
  ),
  'authorization_failed › insufficient_funds': say(
    'The account has too little money.',
    'time',
    'Retry on another day.',
  ),
  'authorization_failed › merchant_blocked': say(
    'The bank does not serve your shop.',
    'the operator',
    'Ask the operator to talk to the bank.',
  ),
  'authorization_failed › operation_blocked': say(
    'The bank, the network or the consent does not allow it. `declineClass` and `bank.code` say more.',
    'the cardholder, or the operator',
    'Look at `declineClass`. Do not retry unchanged.',
  ),
  [`${rejected} › bank_card_rejected › card_expired`]: say(
    'The card has expired.',
    'the cardholder',
    anotherCard,
  ),
  [`${rejected} › bank_card_rejected › card_number_invalid`]: say(
    'The bank does not know the card number.',
    'the payer',
    'Ask them to check the number.',
  ),
  [`${rejected} › bank_card_rejected › cvv_invalid`]: say(
    'The security code is wrong.',
    'the payer',
    'Ask them to enter the card again.',
  ),
  [`${rejected} › bank_card_rejected › issuer_not_found`]: say(
    'No bank has issued this card.',
    'the cardholder',
    'Ask them to check the number, or for another card.',
  ),
  [`${rejected} › unknown`]: say('The bank does not take this card.', 'the cardholder', anotherCard),
  'authorization_failed › processing_deadline_reached': say(
    'The bank did not decide in time. Whatever it did was reversed.',
    'time',
    'Try again later. If it continues, ask the operator.',
  ),
  'authorization_failed › rejected_by_issuer': say(
    'The issuer declines and gives no reason.',
    'the payer',
    callBank,
  ),
  'authorization_failed › security_policy_violated': say(
    'The issuer suspects fraud, or wants the payer to authenticate.',
    'the payer',
    'Ask them to pay, present, with 3-D Secure.',
  ),
  'authorization_failed › temporarily_unavailable': say(
    'The issuer or the network could not be reached; `bank.code` says which.',
    'time',
    'Try again later.',
  ),
  'authorization_failed › unknown': say(
    'The code of the bank has no meaning here, or an operator ended it.',
    'the operator',
    'Read `bank`, and ask the operator.',
  ),
  customer_deleted: say('The customer was deleted meanwhile.', 'you', 'Create another customer.'),
  no_route_found: say(
    'No bank pays out this currency and amount.',
    'the operator',
    'Ask the operator for a payout terminal.',
  ),
  'preauthorization_failed › three_ds_failed': say(
    'The payer did not pass 3-D Secure.',
    'the payer',
    'Ask them to try again, or for another card.',
  ),
  'preauthorization_failed › three_ds_not_finished': say(
    'The payer left 3-D Secure, or took too long.',
    'the payer',
    'Ask them to try again.',
  ),
  'preauthorization_failed › unknown': say(
    '3-D Secure was not available.',
    'time, or the payer',
    'Try again later, or ask for another card.',
  ),
  timeout: say('The time for saving the card is over.', 'the payer', 'Ask them to begin again.'),
};
