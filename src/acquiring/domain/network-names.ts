// The names of card networks: banks and card systems write some of them differently.

const otherNames: Readonly<Record<string, readonly string[]>> = {
  visa: ['visaelectron', 'vpay'],
  mastercard: ['mc'],
  maestro: [],
  mir: ['nspkmir', 'nspk'],
  amex: ['americanexpress'],
  unionpay: ['chinaunionpay', 'cup'],
  jcb: [],
  dinersclub: ['diners'],
  discover: [],
  dankort: [],
};
const networkNamed = new Map(
  Object.entries(otherNames).flatMap(([network, others]) =>
    [network, ...others].map((name) => [name, network] as const),
  ),
);

/** Whether a bank that declares these networks takes cards of this one. */
export function isAmongNetworks(networks: readonly string[], network: string): boolean {
  return networks.some((one) => networkOf(one) === networkOf(network));
}

export function isNetwork(name: string): boolean {
  return networkOf(name) !== undefined;
}

function networkOf(name: string): string | undefined {
  return networkNamed.get(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
}
