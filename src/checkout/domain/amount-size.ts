/** The text size at which the amount fits one line above the form. */
export function sizeOfPrinted(text: string): 'large' | 'middle' | 'small' {
  return text.length <= 9 ? 'large' : text.length <= 13 ? 'middle' : 'small';
}
