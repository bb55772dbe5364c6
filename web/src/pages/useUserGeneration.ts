import { useState } from 'react';
import { useSession } from '../api/session/useSession.js';

/**
 * A number that grows when another user than the one before is signed in. As the key of a part of the page it makes that
 * forget what the one before has chosen, cut, copied, or been asked: on the same paths the next one has other files.
 * It stays while the session has ended, after which its user goes on, and while `isHeld`.
 */
export function useUserGeneration(isHeld = false): number {
	const session = useSession();
	const username = session.status === 'signedIn' ? session.username : undefined;
	const [last, setLast] = useState({ username, generation: 0 });
	const isOther = username !== undefined && username !== last.username && !isHeld;
	const next = isOther ? { username, generation: last.generation + (last.username === undefined ? 0 : 1) } : last;
	if (isOther) setLast(next);
	return next.generation;
}
