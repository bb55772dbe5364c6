/** No number is longer, with its separators. */
const maxLength = 40;
const number = /^[-+−(]?\s*(?:[$€£¥]\s*)?\d[\d.,'\s]*[%€$£)]?$/;

/** Whether a trimmed cell of a table is a number as people write it, such as `(1,234.50)` or `12 %`. */
export function isNumber(text: string): boolean {
	return text.length <= maxLength && number.test(text);
}
