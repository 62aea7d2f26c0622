// What only a payer who is present can have in a request: facts of their browser, a security code, 3-D Secure.
import { isIP } from 'node:net';
import type { Caller } from '../../caller.ts';
import { pageOf } from '../../cards/domain/page-address.ts';
import { seenAt, type EnteredWith } from '../../cards/domain/payment-resource.ts';
import { defined } from '../../defined.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import type { PaymentParams } from './schema.ts';

/** With an entered card or a saved one. */
function isPayerPresent(payer: PaymentParams['payer']): boolean {
  return (
    payer.payerType === 'PaymentResourcePayer' ||
    (payer.payerType === 'CustomerPayer' && payer.present === true)
  );
}

/** The error message for members that do not fit each other. */
export function presenceProblem(body: PaymentParams, where = ''): string | undefined {
  const { payer, threeDSecure, authenticated } = body;
  const ofPresent = (['threeDSecure', 'authenticated'] as const).find((name) => body[name] !== undefined);
  if (ofPresent && !isPayerPresent(payer))
    return validationMessage(where + ofPresent, 'no_match', 'requires a payer who is present');
  if (threeDSecure !== undefined && authenticated)
    return validationMessage('threeDSecure', 'no_match', 'must not be sent with authenticated');
  if (payer.payerType !== 'CustomerPayer') return undefined;
  const { present, clientInfo, cvv } = payer;
  if (present)
    return clientInfo
      ? clientInfoProblem(clientInfo)
      : validationMessage('payer.clientInfo', 'missed', 'is required with present');
  const alone = clientInfo ? 'payer.clientInfo' : cvv === undefined ? undefined : 'payer.cvv';
  return alone && validationMessage(where + alone, 'no_match', 'requires present');
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
