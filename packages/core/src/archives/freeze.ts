import { createHash } from 'node:crypto';
import type { Files, WalkedItem } from '@stowage/plugin-api';
import {
	type Area,
	archiveNames,
	baseName,
	type Chosen,
	type Owner,
	parentPath,
	pathSegments,
	type StoragePath,
	utf8Length,
	type Viewer,
} from '@stowage/rules';
import { FrozenList } from './FrozenList.js';

/** What somebody chose to have, all of it in one area. */
export interface Selection {
	area: Area;
	items: readonly { path: StoragePath; owner?: Owner }[];
}

/** All that an archive of a selection holds, in its order. */
export interface Frozen {
	list: FrozenList;
	chosen: Chosen[];
	/** How many things are left out because nobody can be given them. */
	skipped: number;
	/** Another one for every other list of contents. */
	fingerprint: string;
}

/** Longest path that an archive can tell, without the slash of a folder. */
const maxNameBytes = 65_534;

/**
 * Looks at everything that was chosen and at all below it, as the viewer may see it. Throws `notFound` if something chosen is not there. A chosen folder has its own
 * name in the archive, whatever lies above it; what a root holds lies at the top.
 */
export async function freeze(
	files: Files,
	viewer: Viewer,
	{ area, items }: Selection,
	signal?: AbortSignal,
): Promise<Frozen> {
	const list = new FrozenList();
	const chosen: Chosen[] = [];
	const tops = new Tops();
	let skipped = 0;
	for (const { path, owner } of items) {
		signal?.throwIfAborted();
		tops.begin(path);
		if (path === '') chosen.push({ path, type: 'directory' });
		let isFirst = path !== '';
		for await (const batch of files.walk(viewer, { area, path, ...(owner === undefined ? {} : { owner }) }, signal)) {
			skipped += batch.leftOut;
			for (const item of batch.items) {
				if (isFirst) chosen.push({ path: item.path, type: item.type });
				isFirst = false;
				list.add(item, tops.of(item));
			}
		}
	}
	list.name(tops.names());
	const untold = list.drop(({ name }) => utf8Length(name) > maxNameBytes);
	return { list, chosen, skipped: skipped + untold, fingerprint: fingerprintOf(list) };
}

/** The things at the top of the archive: what was chosen, and in the place of a root what it holds. */
class Tops {
	readonly #tops: Chosen[] = [];
	readonly #inRoot = new Map<string, number>();
	#isInRoot = false;
	#isFirst = true;

	/** What comes from now on belongs to what was chosen at `path`. */
	begin(path: StoragePath): void {
		this.#isInRoot = path === '';
		this.#isFirst = true;
		this.#inRoot.clear();
	}

	/** The index of the top that an item belongs to. A walk comes by a top before all that is below it. */
	of({ path, type, owner }: WalkedItem): number {
		if (!this.#isInRoot) {
			if (this.#isFirst) this.#tops.push({ path, type });
			this.#isFirst = false;
			return this.#tops.length - 1;
		}
		// The merged root holds several trees, which may hold the same names.
		const key = `${owner ?? ''}/${pathSegments(path)[0]}`;
		const known = this.#inRoot.get(key);
		if (known !== undefined) return known;
		this.#inRoot.set(key, this.#tops.push({ path, type }) - 1);
		return this.#tops.length - 1;
	}

	/** Answers the name in the archive of what lies at a path in a top. */
	names(): (top: number, path: StoragePath) => string {
		const names = archiveNames(this.#tops);
		const cuts = this.#tops.map(({ path }, top) => {
			const own = baseName(path);
			const above = parentPath(path).length;
			const name = names[top] as string;
			return name === own ? { start: above && above + 1, name: '' } : { start: path.length, name };
		});
		return (top, path) => {
			const { start, name } = cuts[top] as { start: number; name: string };
			return name === '' ? path.slice(start) : name + path.slice(start);
		};
	}
}

function fingerprintOf(list: FrozenList): string {
	const hash = createHash('sha256');
	for (let index = 0; index < list.count; index++) {
		const { name, type, size, mtime, contentKey } = list.entry(index);
		hash.update(`${type} ${size} ${mtime} ${contentKey}\0${name}\0`);
	}
	return hash.digest('base64url');
}
