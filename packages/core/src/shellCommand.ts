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

/**
 * A command line for people to paste, as a tag of a template: each value is one word of it, and none begins an option: options
 * stand before the values.
 */
export function shellCommand(parts: TemplateStringsArray, ...values: (string | Uint8Array)[]): string {
	let line = parts[0] ?? '';
	let endsOptions = false;
	for (const [index, value] of values.entries()) {
		if (!endsOptions && !line.endsWith('=') && value[0] === (typeof value === 'string' ? '-' : hyphen)) {
			endsOptions = true;
			line += '-- ';
		}
		line += shellWord(value) + (parts[index + 1] ?? '');
	}
	return line;
}

const hyphen = 0x2d;

function escaped(byte: number): string {
	const character = String.fromCharCode(byte);
	if (byte < 0x20 || byte > 0x7e) return `\\x${byte.toString(16).padStart(2, '0')}`;
	return character === "'" || character === '\\' ? `\\${character}` : character;
}
