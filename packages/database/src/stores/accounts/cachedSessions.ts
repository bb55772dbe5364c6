import type { SessionStore } from '@stowage/plugin-api';
import type { Changes } from '../../connection/sqlite/sqliteChanges.js';
import { isSessionOver } from './sessions.js';

/** The most cached sessions; each takes about a kilobyte. */
const maxCached = 1000;

type Found = NonNullable<Awaited<ReturnType<SessionStore['find']>>>;

/** The same store, with sessions cached for as long as the database has not changed. */
export function cachedSessions(store: SessionStore, changes: Pick<Changes, 'version'>): SessionStore {
	const found = new Map<string, Found>();
	let foundAt: number | undefined;

	/** Returns the version that subsequent cache entries belong to. */
	function forgetOlder(): number | undefined {
		const version = changes.version();
		if (version === undefined || version !== foundAt) found.clear();
		foundAt = version;
		return version;
	}

	return {
		...store,
		async find(idHash, time) {
			const version = forgetOlder();
			const known = found.get(idHash);
			if (known !== undefined) return isSessionOver(known.session, time) ? undefined : known;
			const fresh = await store.find(idHash, time);
			// A change during the query may be missing in its result.
			if (fresh !== undefined && version !== undefined && version === foundAt) {
				if (found.size >= maxCached) found.clear();
				found.set(idHash, fresh);
			}
			return fresh;
		},
	};
}
