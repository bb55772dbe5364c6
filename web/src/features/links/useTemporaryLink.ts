import { defaultLinkExpiration, type LinkExpiration } from '@stowage/rules';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { makeLink } from '../../api/links.js';

/** A link in the making: first it is chosen how long it lives, then there is one. */
export function useTemporaryLink(path: string) {
	const [expiration, setExpiration] = useState<LinkExpiration>(defaultLinkExpiration);
	const { mutate, data, isPending, error } = useMutation({ mutationFn: () => makeLink(path, expiration) });
	return { expiration, setExpiration, generate: () => mutate(), link: data, isLoading: isPending, error };
}
