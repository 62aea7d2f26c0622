// What only a payer who is present can have in a request: facts of their browser, a security code, 3-D Secure.
import { isIP } from 'node:net';
import type { Caller } from '../../caller.ts';
import { pageOf } from '../../cards/domain/page-address.ts';
import { seenAt, type EnteredWith } from '../../cards/domain/payment-resource.ts';
import { defined } from '../../defined.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { PaymentParams } from './schema.ts';

/** With an entered card or a saved one. */
function isPayerPresent(payer: PaymentParams['payer']): boolean {
  return (
    payer.payerType === 'PaymentResourcePayer' ||
    (payer.payerType === 'CustomerPayer' && payer.present === true)
  );
}

/** What only a merchant may say, and only of a payer who is present. */
export const ofMerchant = ['threeDSecure', 'authenticated', 'exemption'] as const;

/** The error message for members that do not fit each other. */
export function presenceProblem(body: PaymentParams, where = ''): string | undefined {
  const { payer } = body;
  const [ofPresent, another] = ofMerchant.filter((name) => body[name] !== undefined);
  if (ofPresent && !isPayerPresent(payer))
    return validationMessage(where + ofPresent, 'no_match', 'requires a payer who is present');
  if (ofPresent && another)
    return validationMessage(where + ofPresent, 'no_match', `must not be sent with ${another}`);
  if (payer.payerType !== 'CustomerPayer') return undefined;
  const { present, clientInfo, cvv, customerAccessToken } = payer;
  if (present)
    return clientInfo
      ? clientInfoProblem(clientInfo)
      : validationMessage('payer.clientInfo', 'missed', 'is required with present');
  const ofPayer = { clientInfo, cvv, customerAccessToken };
  const alone = Object.entries(ofPayer).find(([, value]) => value !== undefined)?.[0];
  return alone && validationMessage(`${where}payer.${alone}`, 'no_match', 'requires present');
}

/** The token is no part of what an Idempotency-Key stands for: with another one the same request may be accepted. */
const notPermitted = (message: string) =>
  refuse('operationNotPermitted', { message, isOfThisTryAlone: true });

export const staleToken = notPermitted(
  'The customerAccessToken has expired. Issue a new one for the customer.',
);
export const needsPresentPayer = notPermitted(
  'This token is limited to a payer who is present. Use an API key to charge a saved card.',
);

/**
 * Whether the payer has shown that they are the customer: the token of an invoice, which may be in any browser, does not show that.
 * A `stale` one, which is theirs and has expired, lets them repeat a request.
 */
export async function customerProof(
  payer: PaymentParams['payer'],
  { partyId }: Caller,
  tokens: Pick<AccessTokens, 'verify'>,
): Promise<Outcome<'none' | 'proven' | 'stale', 'operationNotPermitted'>> {
  if (payer.payerType !== 'CustomerPayer' || payer.customerAccessToken === undefined) return accept('none');
  const found = await tokens.verify(payer.customerAccessToken);
  const subject = found?.kind === 'refused' ? found.subject : found;
  const isTheirs =
    subject?.kind === 'customer' && subject.partyId === partyId && subject.entityId === payer.customerID;
  if (isTheirs) return accept(found === subject ? 'proven' : 'stale');
  return notPermitted(
    'The customerAccessToken is not of this customer. Send the token of the customer in customerID.',
  );
}

type ClientInfoParams = NonNullable<(PaymentParams['payer'] & { payerType: 'CustomerPayer' })['clientInfo']>;

function clientInfoProblem({ url, ip }: ClientInfoParams): string | undefined {
  if (url !== undefined && pageOf(url) === undefined)
    return validationMessage('payer.clientInfo.url', 'no_match', 'must be an absolute URL');
  if (ip !== undefined && isIP(ip) === 0)
    return validationMessage('payer.clientInfo.ip', 'no_match', 'must be an IP address');
  return undefined;
}

/** Only an API key may say where the payer is: a token is in the payer's own browser. */
export function presentPayerOf(
  { fingerprint, url, browser, ip }: ClientInfoParams,
  caller: Caller,
  { address, countedAs }: { readonly address: string; readonly countedAs: string },
): EnteredWith {
  const page = url === undefined ? undefined : pageOf(url);
  const from = caller.kind === 'apiKey' ? { ip: ip ?? address } : seenAt(address, countedAs);
  return { fingerprint, ...from, ...defined({ url: page, browser }) };
}
