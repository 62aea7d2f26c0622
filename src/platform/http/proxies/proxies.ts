// Which peers are the operator's proxies. The framework reads the same list for X-Forwarded-For.
import { BlockList, isIP } from 'node:net';

export function proxyCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    // An IPv4 peer of an IPv6 socket.
    const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    const version = isIP(bare);
    return version !== 0 && list.check(bare, version === 6 ? 'ipv6' : 'ipv4');
  };
}
