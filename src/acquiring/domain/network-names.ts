// The names of card networks: banks and card systems write some of them differently.

const sameAs: Readonly<Record<string, string>> = {
  nspkmir: 'mir',
  americanexpress: 'amex',
  diners: 'dinersclub',
  chinaunionpay: 'unionpay',
};

/** Whether a bank that declares these networks takes cards of this one. */
export function isAmongNetworks(networks: readonly string[], network: string): boolean {
  return networks.some((one) => normalised(one) === normalised(network));
}

function normalised(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return sameAs[plain] ?? plain;
}
