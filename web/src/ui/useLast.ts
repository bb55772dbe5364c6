import { useState } from 'react';

/** The value, or while there is none the last one: what a dialog shows while it fades out. */
export function useLast<T>(value: T | undefined): T | undefined {
	const [last, setLast] = useState(value);
	if (value !== undefined && value !== last) setLast(value);
	return value ?? last;
}
