import { text } from 'node:stream/consumers';

/**
 * Reads a password without showing it: typed at a terminal, twice, or the first line of standard input. Never from an argument, which everybody on the
 * machine could read.
 */
export async function readPassword(prompt: string): Promise<string> {
	if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] ?? '';
	const password = await ask(prompt);
	if ((await ask('Again: ')) !== password) throw new Error('Passwords do not match');
	return password;
}

function ask(prompt: string): Promise<string> {
	const { stdin, stderr } = process;
	stderr.write(prompt);
	stdin.setRawMode(true).setEncoding('utf8').resume();
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
				if (character === '\u0003' || character === '\u0004') return end(() => reject(new Error('Cancelled.')));
				typed = character === '\u007F' || character === '\b' ? typed.slice(0, -1) : typed + character;
			}
		};
		stdin.on('data', onData);
	});
}
