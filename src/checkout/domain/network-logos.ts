// Small plain logos of the card networks, which show a payer that their card was recognised.
// Each is an inline symbol: nothing is loaded for it.
const plain = (id: string, glyphs: string, ground: string, ink = '#fff', size = 13) =>
  `<symbol id="sign-${id}" viewBox="0 0 48 30"><rect width="48" height="30" rx="5" fill="${ground}"/><text x="24" y="${15 + size * 0.36}" text-anchor="middle" font-family="Arial,Liberation Sans,sans-serif" font-weight="700" font-size="${size}" fill="${ink}">${glyphs}</text></symbol>`;

const circles = (id: string, left: string, right: string, middle: string) =>
  `<symbol id="sign-${id}" viewBox="0 0 48 30"><rect width="48" height="30" rx="5" fill="#20242b"/><circle cx="19.5" cy="15" r="8.5" fill="${left}"/><circle cx="28.5" cy="15" r="8.5" fill="${right}"/><path d="M24 7.8a8.5 8.5 0 0 1 0 14.4a8.5 8.5 0 0 1 0-14.4" fill="${middle}"/></symbol>`;

export const networkSigns = `<svg class="off-screen" aria-hidden="true" focusable="false">
<symbol id="sign-card" viewBox="0 0 48 30"><rect x="1" y="1" width="46" height="28" rx="5" fill="none" stroke="currentColor" stroke-width="1.5" opacity=".45"/><path d="M1 10h46" stroke="currentColor" stroke-width="4" opacity=".3"/></symbol>
${plain('visa', '<tspan font-style="italic">VISA</tspan>', '#1a3a8f', '#fff', 14)}
${circles('mastercard', '#eb001b', '#f79e1b', '#ff5f00')}
${circles('maestro', '#eb001b', '#00a2e5', '#7375cf')}
${plain('nspkmir', 'МИР', '#0f754e')}
${plain('amex', 'AMEX', '#016fd0', '#fff', 12)}
${plain('unionpay', 'UPay', '#00505a', '#fff', 13)}
${plain('jcb', 'JCB', '#0b4ea2')}
${plain('dinersclub', 'Diners', '#0a4a80', '#fff', 11)}
${plain('discover', 'Disc.', '#f2f2f2', '#1b1f24', 13)}
${plain('dankort', 'DK', '#c8102e')}
</svg>`;
