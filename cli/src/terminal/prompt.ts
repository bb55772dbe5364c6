import { createInterface } from 'node:readline/promises';
import { escapeControls, Failure } from '@stowage/rules';

/** Whether there is a terminal to ask at. */
export function isInteractive(): boolean {
	return process.stdin.isTTY === true;
}

/** The answer of the user at the terminal. Throws if the input ends without one. */
export async function prompt(question: string): Promise<string> {
	// The terminal itself echoes the input.
	const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
	const cancelled = new Promise<never>((_resolve, reject) => {
		terminal.once('close', () => reject(new Failure('invalid', 'Cancelled.')));
	});
	try {
		return (await Promise.race([terminal.question(escapeControls(question)), cancelled])).trim();
	} finally {
		cancelled.catch(() => {
			// Closed below, it was not cancelled: there is an answer, or another error.
		});
		terminal.close();
	}
}

/** Throws unless the user at the terminal says yes, or `isAgreed`. */
export async function confirm(question: string, isAgreed: boolean): Promise<void> {
	if (isAgreed) return;
	if (!isInteractive()) throw new Failure('invalid', `${question} Say so with --yes.`);
	const answer = await prompt(`${question} [y/N]: `);
	if (!/^y(es)?$/i.test(answer)) throw new Failure('invalid', 'Cancelled.');
}
