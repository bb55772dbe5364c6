import { parsePath, rootPath } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { type CompactMark, compact, expanded } from './ChangeJournal.js';
import { addCovering, type RootMark, treeAt } from './marks.js';

/** Marks that wait; where there are more, those of whole homes take their place. */
const maxWaiting = 1000;

/** Bytes of the marks of one event, about: a row has room for three times as many. */
const maxPartBytes = 16_000;

/** Characters of the path of a mark: of what lies deeper, all below the folder of about this length is read again. */
const maxPathLength = 1000;

interface Dependencies {
	config: Pick<Config, 'search'>;
	/** Whether this process does what one of those over the data folder is enough for. */
	isLeader(): boolean;
	/** Whether processes of other nodes live, whose data folders are others. */
	hasOtherNodes(): boolean;
	index(): { note(marks: readonly RootMark[]): void; requestCheck(): Promise<void> };
}

/**
 * What other nodes have to read again for their indexes of names, since this process has changed it, and what this one
 * has to, by them. They are hints: what one misses is found when the folders are compared with the index.
 */
export class NodeChanges {
	readonly #dependencies: Dependencies;
	#waiting = new Map<string, RootMark>();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/** Whether this process asks for what other nodes change. */
	follows(): boolean {
		const { config, isLeader, hasOtherNodes } = this.#dependencies;
		return config.search.index && isLeader() && hasOtherNodes();
	}

	get isWaiting(): boolean {
		return this.#waiting.size > 0;
	}

	/** Adds what a change of this process has made stale. */
	add(marks: readonly RootMark[]): void {
		for (const mark of marks.map(shortened)) this.#waiting.set(`${mark.rootId} ${mark.kind} ${mark.path}`, mark);
		if (this.#waiting.size <= maxWaiting) return;
		const homes = new Map<string, RootMark>();
		for (const mark of this.#waiting.values()) addCovering(homes, mark);
		this.#waiting = homes.size <= maxWaiting / 2 ? homes : wholeRoots(homes);
	}

	/** What waits, in parts for one event each. Nothing waits after that. */
	take(): CompactMark[][] {
		const parts: CompactMark[][] = [];
		let bytes = Number.POSITIVE_INFINITY;
		for (const mark of [...this.#waiting.values()].map(compact)) {
			if (bytes > maxPartBytes) {
				parts.push([]);
				bytes = 0;
			}
			parts.at(-1)?.push(mark);
			bytes += Buffer.byteLength(JSON.stringify(mark));
		}
		this.#waiting = new Map();
		return parts;
	}

	/** Adds what could not be sent again. */
	putBack(parts: readonly (readonly CompactMark[])[]): void {
		this.add(parts.flat().map(expanded));
	}

	/** Another node has sent a part. */
	receive(part: readonly CompactMark[]): void {
		if (this.follows()) this.#dependencies.index().note(part.map(expanded));
	}

	/** What other nodes have changed until now may not have been sent here. */
	async missed(): Promise<void> {
		await this.#dependencies.index().requestCheck();
	}
}

function shortened(mark: RootMark): RootMark {
	if (mark.path.length <= maxPathLength) return mark;
	const end = mark.path.lastIndexOf('/', maxPathLength);
	return { rootId: mark.rootId, ...treeAt(parsePath(mark.path.slice(0, end))) };
}

function wholeRoots(marks: ReadonlyMap<string, RootMark>): Map<string, RootMark> {
	return new Map([...marks.values()].map(({ rootId }) => [rootId, { rootId, ...treeAt(rootPath) }]));
}
