// Codecs of the bank data stored with payments, bindings and payouts.
import { list, object, text, variants, type Codec } from '../../platform/database/codec.ts';
import type { Interaction, Terminal } from '../domain/bank-port.ts';

export const terminal: Codec<Terminal> = object({
  id: text,
  bankId: text,
  merchantId: text,
  descriptor: text,
});

export const interaction: Codec<Interaction> = variants<Interaction, 'method'>('method', {
  GET: { url: text },
  POST: { url: text, form: list(object({ name: text, value: text })) },
});
