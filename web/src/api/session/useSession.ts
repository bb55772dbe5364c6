import type { UserSettings } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { sessionQuery } from './sessionQuery.js';

export type Session =
	| { status: 'unknown' }
	| {
			status: 'signedOut';
			/** The server has not said so: it could not be asked, and is asked again. */
			isAssumed?: true;
	  }
	| { status: 'signedIn'; username: string; settings: UserSettings };

/** Who is signed in, or `unknown` until the first check ends, and where the server is not asked. A failed check counts as signed out. */
export function useSession({ isAsked = true } = {}): Session {
	const { data, isFetched } = useQuery({ ...sessionQuery, enabled: isAsked });
	return useMemo(() => {
		if (!isFetched) return { status: 'unknown' };
		if (data === undefined) return { status: 'signedOut', isAssumed: true };
		if (!data.isLoggedIn || data.username === null || data.settings === null) return { status: 'signedOut' };
		return { status: 'signedIn', username: data.username, settings: data.settings };
	}, [data, isFetched]);
}
