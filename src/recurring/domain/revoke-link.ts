// The address on each receipt with which a payer ends a series.

export const revokePath = '/recurring/withdraw';

export function revokeUrlOf(publicUrl: string, seriesId: string, secret: string): string {
  return `${publicUrl}${revokePath}/${seriesId}/${secret}`;
}
