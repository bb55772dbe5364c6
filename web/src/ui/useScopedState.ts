import { type SetStateAction, useCallback, useEffect, useState } from 'react';

/**
 * State that belongs to a scope, such as the folder on screen: it is undefined in any other, and again when its scope
 * comes back. No frame shows the state of one scope in another.
 */
export function useScopedState<T extends object>(
	scope: string,
): [T | undefined, (next: SetStateAction<T | undefined>) => void] {
	const [held, setHeld] = useState<{ scope: string; value: T | undefined }>();
	useEffect(() => {
		// What was held for another scope is forgotten.
		setHeld((last) => (last?.scope === scope ? last : undefined));
	}, [scope]);
	const set = useCallback(
		(next: SetStateAction<T | undefined>) =>
			setHeld((last) => {
				const value = last?.scope === scope ? last.value : undefined;
				return { scope, value: typeof next === 'function' ? next(value) : next };
			}),
		[scope],
	);
	return [held?.scope === scope ? held.value : undefined, set];
}
