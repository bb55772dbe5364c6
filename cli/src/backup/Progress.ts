import { formatListSize } from '@stowage/rules';

/** Tells on the terminal how far long work is; elsewhere nothing. */
export class Progress {
	#files = 0;
	#bytes = 0;
	#shownAt = 0;

	constructor(readonly what: string) {}

	add(bytes: number): void {
		this.#files++;
		this.#bytes += bytes;
		if (!process.stderr.isTTY || performance.now() - this.#shownAt < 200) return;
		this.#shownAt = performance.now();
		process.stderr.write(`\r${this.what}: ${this.#files} files, ${formatListSize(this.#bytes)} \u001B[K`);
	}

	end(): void {
		if (process.stderr.isTTY && this.#shownAt > 0) process.stderr.write('\r\u001B[K');
	}
}
