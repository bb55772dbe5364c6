import { type Entry, isFailure, type Owner, type User } from '@stowage/rules';
import type { SharedFolders } from './SharedFolders.js';

/** The rows of the folders that are shared with a user. `onMissing` is called for each owner whose disk is away. */
export async function* listShared(
	folders: SharedFolders,
	user: User,
	onMissing: (owner: Owner) => void = () => {},
): AsyncGenerator<Entry[]> {
	const rows: Entry[] = [];
	const missing = new Set<string>();
	for (const named of await folders.joined(user.id)) {
		const { name, folder } = named;
		try {
			const found = await folders.look(named);
			if (found === undefined) continue;
			const { count, mtime } = found;
			const owner = folder.owner.username;
			rows.push({ name, path: name, type: 'directory', size: 0, mtime, owner, count, role: folder.role });
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			missing.add(folder.owner.username);
		}
	}
	for (const owner of missing) onMissing(owner);
	yield rows;
}
