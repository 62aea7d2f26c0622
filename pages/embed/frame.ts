// The checkout in a frame, in a dialog that keeps keyboards and screen readers out of the shop's page.
// Styles are set property by property, which works under any content security policy of the shop.

export type Opened = {
  readonly window: Window | null;
  isOpen(): boolean;
  /** The checkout has loaded and shows its own close button. */
  isThere(): void;
  resize(height: number): void;
  close(): void;
};

const silenceMs = 10_000;

export function openFrame(address: string, closed: () => void): Opened {
  const dialog = element('dialog', {
    border: '0',
    padding: '0',
    margin: '0',
    width: '100%',
    height: '100%',
    maxWidth: 'none',
    maxHeight: 'none',
    background: 'rgb(10 14 16 / 60%)',
    overflow: 'auto',
  });
  const frame = element('iframe', {
    display: 'block',
    border: '0',
    // One column, or two in a window wider than 864 px. A shop may have set another size of rem.
    width: 'clamp(440px, (100vw - 864px) * 1000, 800px)',
    maxWidth: '100%',
    height: '43rem',
    margin: 'max(1rem, 6vh) auto 1rem',
    borderRadius: '1.25rem',
    background: '#fff',
    colorScheme: 'light dark',
    boxShadow: '0 1.5rem 4rem -1rem rgb(0 0 0 / 50%)',
  });
  const cross = element('button', {
    position: 'fixed',
    top: '1rem',
    right: '1rem',
    width: '44px',
    height: '44px',
    border: '0',
    borderRadius: '50%',
    font: '24px/1 system-ui, sans-serif',
  });
  frame.title = 'Payment';
  frame.src = address;
  cross.type = 'button';
  cross.textContent = '×';
  cross.ariaLabel = 'Close';
  cross.addEventListener('click', closed);
  dialog.addEventListener('cancel', closed);
  dialog.append(frame, cross);
  const overflowBefore = document.documentElement.style.overflow;
  document.documentElement.style.overflow = 'hidden';
  document.body.append(dialog);
  dialog.showModal();
  frame.focus();
  const timer = setTimeout(() => {
    // oxlint-disable-next-line no-console -- a developer of the shop reads it when nothing opens
    console.warn(
      `The checkout does not load. If this shop does not allow the origin ${location.origin}, run "mandate shop origins --add ${location.origin}".`,
    );
  }, silenceMs);

  return {
    get window() {
      return frame.contentWindow;
    },
    isOpen: () => dialog.isConnected,
    isThere() {
      clearTimeout(timer);
      cross.remove();
    },
    resize: (height) => void (frame.style.height = `${Math.max(240, height)}px`),
    close() {
      clearTimeout(timer);
      dialog.close();
      dialog.remove();
      document.documentElement.style.overflow = overflowBefore;
    },
  };
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  style: Partial<CSSStyleDeclaration>,
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  Object.assign(made.style, style);
  return made;
}
