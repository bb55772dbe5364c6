import { buffer } from 'node:stream/consumers';
import { Failure } from '@stowage/rules';

/**
 * Reads a password without showing it: typed at a terminal, twice, or the first line of standard input. Never from an argument, which
 * every user of the machine could read.
 */
export async function readPassword(question: string): Promise<string> {
	if (!process.stdin.isTTY) return readLine('The password');
	const password = await prompt(question);
	if ((await prompt('Again: ')) !== password) throw new Failure('invalid', 'Passwords do not match');
	return password;
}

/**
 * The first line of standard input, which is no terminal; `what` names it in errors. Throws for bytes of another encoding: the replacement
 * characters could not be typed again.
 */
export async function readLine(what: string): Promise<string> {
	const bytes = await buffer(process.stdin);
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).split(/\r?\n/)[0] ?? '';
	} catch (cause) {
		throw new Failure('invalid', `${what} is not UTF-8.`, { cause });
	}
}

function prompt(question: string): Promise<string> {
	const { stdin, stderr } = process;
	// Before the prompt: characters typed while the terminal still echoes would be shown.
	stdin.setRawMode(true).setEncoding('utf8').resume();
	stderr.write(question);
	return new Promise((resolve, reject) => {
		let typed = '';
		const end = (settle: () => void) => {
			stdin.off('data', onData).setRawMode(false).pause();
			stderr.write('\n');
			settle();
		};
		const onData = (chunk: string) => {
			for (const character of chunk) {
				if (character === '\r' || character === '\n') return end(() => resolve(typed));
				// Ctrl+C and Ctrl+D, which a raw terminal hands to us.
				if (character === '\u0003' || character === '\u0004')
					return end(() => reject(new Failure('invalid', 'Cancelled.')));
				typed = character === '\u007F' || character === '\b' ? typed.slice(0, -1) : typed + character;
			}
		};
		stdin.on('data', onData);
	});
}
