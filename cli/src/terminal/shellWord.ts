import { isUtf8 } from 'node:buffer';
import { escapeControls } from '@stowage/rules';

/**
 * A text or a path as one word of a command line. What is no text, or can't be shown, is written as `$'\xe9'`, which bash and most others
 * understand.
 */
export function shellWord(word: string | Uint8Array): string {
	const bytes = Buffer.from(word);
	const text = bytes.toString();
	if (isUtf8(bytes) && escapeControls(text) === text) {
		return /^[\w./@%+,:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
	}
	return `$'${[...bytes].map(escaped).join('')}'`;
}

function escaped(byte: number): string {
	const character = String.fromCharCode(byte);
	if (byte < 0x20 || byte > 0x7e) return `\\x${byte.toString(16).padStart(2, '0')}`;
	return character === "'" || character === '\\' ? `\\${character}` : character;
}
