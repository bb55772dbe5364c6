import { useState } from 'react';
import { useSession } from '../api/session/useSession.js';

/**
 * The generation is a number that grows when another user than the one before is signed in. As the key of a part of the
 * page it makes that forget what the one before has chosen, cut, copied, or been asked: on the same paths the next one
 * has other files. It stays while the session has ended, after which its user goes on, and while `isHeld`. `user` is
 * who that is; null for a visitor, and undefined until it is known.
 */
export function useUserGeneration(isHeld = false): { generation: number; user: string | null | undefined } {
	const session = useSession();
	const username = session.status === 'signedIn' ? session.username : undefined;
	const [last, setLast] = useState({ username, generation: 0 });
	const isOther = username !== undefined && username !== last.username && !isHeld;
	const next = isOther ? { username, generation: last.generation + (last.username === undefined ? 0 : 1) } : last;
	if (isOther) setLast(next);
	const isUnknown = session.status === 'unknown';
	return { generation: next.generation, user: next.username ?? (isUnknown ? undefined : null) };
}
