import { createInterface } from 'node:readline/promises';
import { Failure } from '@stowage/rules';

/** Whether there is somebody to ask. */
export function canAsk(): boolean {
	return process.stdin.isTTY === true;
}

/** The answer of whoever sits at the terminal. Throws if they would rather not say. */
export async function ask(question: string): Promise<string> {
	// The terminal itself shows what is typed.
	const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
	const cancelled = new Promise<never>((_resolve, reject) => {
		terminal.once('close', () => reject(new Failure('invalid', 'Cancelled.')));
	});
	try {
		return (await Promise.race([terminal.question(question), cancelled])).trim();
	} finally {
		cancelled.catch(() => {
			// Closing it below is no cancelling: there is an answer, or another error.
		});
		terminal.close();
	}
}

/** Throws unless somebody at the terminal says yes, or `isAgreed` says so for them. */
export async function confirm(question: string, isAgreed: boolean): Promise<void> {
	if (isAgreed) return;
	if (!canAsk()) throw new Failure('invalid', `${question} Say so with --yes.`);
	const answer = await ask(`${question} [y/N]: `);
	if (!/^y(es)?$/i.test(answer)) throw new Failure('invalid', 'Cancelled.');
}
