import { createHash } from 'node:crypto';
import { type AccessPart, hasAccess, type ItemAccess, type StorageProvider } from '@stowage/plugin-api';
import { joinPath, plural, type StoragePath } from '@stowage/rules';

/** Paths that are named for each part. */
const maxNames = 3;

const setgid = 0o2000;

const sentences: Readonly<Record<AccessPart, string>> = {
	owner: 'owned by other users of the system, and then by the server’s',
	group: 'of a group that the server’s user can’t give files to',
	mode: 'with permission bits that can’t be set there',
	acl: 'with an ACL that can’t be set there',
};

/** What shares a file or folder with others than the server's own group, on a storage that knows no users of the system. */
function sharedParts({ group, mode, acl, defaultAcl }: ItemAccess): AccessPart[] {
	return [
		...(group === process.getegid?.() ? [] : (['group'] as const)),
		...((mode & setgid) === 0 ? [] : (['mode'] as const)),
		...(acl === undefined && defaultAcl === undefined ? [] : (['acl'] as const)),
	];
}

/** Collects what a home would lose on its way to another root of what other programs may do with its files. */
export class LostAccess {
	readonly #found = new Map<AccessPart, { count: number; paths: StoragePath[] }>();
	/** What the target answered, by what it was asked: most items of a home have one of a few kinds of access. */
	readonly #answers = new Map<string, AccessPart[]>();

	constructor(
		readonly source: StorageProvider,
		readonly home: StoragePath,
		readonly target: StorageProvider,
	) {}

	/** Adds an item of the home, by its path in it. */
	async add(path: StoragePath, type: 'file' | 'directory'): Promise<void> {
		if (!hasAccess(this.source)) return;
		const access = await this.source.readAccess(joinPath(this.home, path));
		for (const part of await this.#lostOf(type, access)) {
			const found: { count: number; paths: StoragePath[] } = this.#found.get(part) ?? { count: 0, paths: [] };
			found.count++;
			if (found.paths.length < maxNames) found.paths.push(path);
			this.#found.set(part, found);
		}
	}

	/** A sentence for each part that would be lost. */
	describe(): string[] {
		return [...this.#found].map(([part, { count, paths }]) => {
			const named = paths.map((path) => JSON.stringify(path === '' ? '.' : path)).join(', ');
			return `${plural(count, 'file or folder', 'files and folders')} ${sentences[part]}: ${named}${count > paths.length ? ', …' : ''}`;
		});
	}

	async #lostOf(type: 'file' | 'directory', access: ItemAccess): Promise<AccessPart[]> {
		const { acl = new Uint8Array(), defaultAcl = new Uint8Array(), owner, group, mode } = access;
		if (!hasAccess(this.target)) return sharedParts(access);
		const lists = createHash('sha256').update(`${acl.length}/`).update(acl).update(defaultAcl).digest('hex');
		const key = JSON.stringify([type, owner, group, mode, lists]);
		const known = this.#answers.get(key) ?? (await this.target.findLostAccess(type, access));
		this.#answers.set(key, known);
		return known;
	}
}
