import type { JoinedFolder } from '@stowage/plugin-api';
import { baseName, foldUsername, maxNameBytes, truncateToBytes } from '@stowage/rules';

/** A folder under the name that it has for one of its members. */
export interface NamedFolder {
	name: string;
	folder: JoinedFolder;
}

/**
 * Folders of one name are told apart by their owners, and those of one owner by numbers, the first joined first. A
 * name that could mean folders of two owners means none: otherwise an owner could put a folder in the place of
 * somebody else's, and get what is meant for that.
 */
export function namedFolders(folders: readonly JoinedFolder[]): NamedFolder[] {
	const counts = new Map<string, number>();
	const owners = new Set<string>();
	for (const folder of folders) {
		const own = ownName(folder);
		counts.set(own, (counts.get(own) ?? 0) + 1);
		owners.add(foldUsername(folder.owner.username));
	}
	const taken = new Set<string>();
	const numbers = new Map<string, number>();
	/** The next part of a number, by what long names are cut to before it: each would try all that others have got. */
	const parts = new Map<string, number>();
	return folders.map((folder) => {
		const own = ownName(folder);
		const { username } = folder.owner;
		if (counts.get(own) === 1 && !isOfAnother(own, username, owners)) return { name: own, folder };
		const first = withOwner(own, username);
		const number = (numbers.get(first) ?? 0) + 1;
		numbers.set(first, number);
		let name = number === 1 ? first : withOwner(own, `${username} ${number}`);
		if (counts.has(name) || taken.has(name)) {
			const cut = withOwner(own, `${username} ${number}.999`);
			let part = parts.get(cut) ?? 2;
			do name = withOwner(own, `${username} ${number}.${part++}`);
			while (counts.has(name) || taken.has(name));
			parts.set(cut, part);
		}
		taken.add(name);
		return { name, folder };
	});
}

const ownName = ({ path, nextPath }: JoinedFolder) => baseName(nextPath ?? path);

/** Such as ` (ada)` or ` (ada 2)`. */
const ofOwner = / \(([A-Za-z0-9][A-Za-z0-9._-]{0,31})(?: [0-9.]{1,16})?\)$/;

/** Whether another of these owners has folders of that name. */
function isOfAnother(name: string, owner: string, owners: ReadonlySet<string>): boolean {
	const named = foldUsername(ofOwner.exec(name)?.[1] ?? '');
	return named !== foldUsername(owner) && owners.has(named);
}

function withOwner(name: string, owner: string): string {
	const suffix = ` (${owner})`;
	return `${truncateToBytes(name, maxNameBytes - suffix.length)}${suffix}`;
}
