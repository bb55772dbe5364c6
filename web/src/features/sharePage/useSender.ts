import { isValidName } from '@stowage/rules';
import { useState } from 'react';
import { receivingMessages as messages } from './receivingMessages.js';

const storageKey = 'stowage.sender';

/** The name of who sends files, which this browser remembers. */
export function useSender(): [string, (name: string) => void] {
	const [name, setName] = useState(load);
	return [
		name,
		(changed) => {
			setName(changed);
			try {
				window.localStorage.setItem(storageKey, changed);
			} catch {
				// The storage is full or forbidden: the name is kept until the page is left.
			}
		},
	];
}

/** Why it can't be sent, if it can't. It becomes the name of a folder. */
export function senderDenial(name: string): string | undefined {
	if (name.trim() === '') return messages.nameNeeded;
	return isValidName(name) ? undefined : messages.nameInvalid;
}

function load(): string {
	try {
		return window.localStorage.getItem(storageKey) ?? '';
	} catch {
		return '';
	}
}
