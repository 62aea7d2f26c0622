// How a shop's pages look, as they show it.
import { defined } from '../defined.ts';
import { imageTypeOf, type Branding } from '../merchants/domain/branding.ts';
import type { Brand } from './domain/page-parts.ts';

/** `contact` is the one on receipts. */
export function brandIn({ logo, ...branding }: Branding, contact: string | undefined): Brand {
  const image = logo && `data:${imageTypeOf(logo)};base64,${Buffer.from(logo).toString('base64')}`;
  return { ...branding, ...defined({ logo: image, contact }) };
}
