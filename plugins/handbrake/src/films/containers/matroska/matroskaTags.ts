import { isTechnical } from '../../texts/texts.js';
import type { Findings, Scanner } from '../reading/scanner.js';
import { elementsIn, textAt } from './ebml.js';

const [targets, targetValue, text, textName] = [0x63c0, 0x68ca, 0x67c8, 0x45a3];

/** The most characters of what a tag is of. */
const maxTargets = 200;
/** A film has some hundred, and 20 for each track. */
const maxTags = 100_000;

/**
 * The names of the texts that a Matroska file has of the film and of its tracks. ffprobe prints the last one of each name: others are
 * added to what no program reads.
 */
export class MatroskaTags {
	readonly #scanner: Scanner;
	readonly #found: Findings;
	/** With what they are of. */
	readonly #names = new Set<string>();

	constructor(scanner: Scanner, found: Findings) {
		this.#scanner = scanner;
		this.#found = found;
	}

	/** Is called with the content of each tag. */
	async take(at: number, end: number): Promise<void> {
		const of = await this.#targetsIn(at, end);
		for await (const { id, content, length } of elementsIn(this.#scanner, at, end)) {
			if (id !== text) continue;
			for await (const part of elementsIn(this.#scanner, content, content + length))
				if (part.id === textName) this.#add(of, await textAt(this.#scanner, part.content, part.length, 'utf8'));
		}
	}

	/** What a tag is of. */
	async #targetsIn(at: number, end: number): Promise<string> {
		let of = '';
		for await (const { id, content, length } of elementsIn(this.#scanner, at, end)) {
			if (id !== targets) continue;
			for await (const target of elementsIn(this.#scanner, content, content + length)) {
				if (target.id === targetValue || of.length > maxTargets) continue;
				of += `${target.id}=${await textAt(this.#scanner, target.content, target.length, 'latin1')} `;
			}
		}
		return of;
	}

	#add(of: string, said: string): void {
		const name = said.toUpperCase();
		if (isTechnical(name, 'matroska')) return;
		if (this.#names.has(of + name)) this.#found.addUnread(`several ${name}`);
		if (this.#names.size < maxTags) this.#names.add(of + name);
	}
}
