import { type ComponentType, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { messages } from '../messages.js';
import { useNotify } from './notifications/useNotify.js';

/** A component whose code is fetched when it is needed. */
export interface Part<P> {
	load(): Promise<ComponentType<P>>;
	/** Once it was loaded. */
	loaded?: ComponentType<P>;
}

/**
 * The component once it is loaded, and the function that loads it. Loading fails when the server is not available, or was updated since the page was opened: then a notice is shown, `onFailed` is
 * called, and the next request tries again.
 */
export function usePart<P>(part: Part<P>, onFailed?: () => void): [ComponentType<P> | undefined, () => void] {
	const { notify } = useNotify();
	const [loading, setLoaded] = useState<{ Part?: ComponentType<P> | undefined }>({ Part: part.loaded });
	const latest = useRef(onFailed);
	latest.current = onFailed;
	const request = useCallback(async () => {
		try {
			part.loaded = await part.load();
			setLoaded({ Part: part.loaded });
		} catch {
			// The browser has logged the failed request; its error names a file of the page, which does not help the user.
			notify({ intent: 'danger', message: messages.partFailed, detail: messages.partFailedReason });
			latest.current?.();
		}
	}, [part, notify]);
	return [loading.Part, request];
}

export interface OnDemandProps {
	/** Shown until it is loaded. */
	fallback?: ReactNode;
	onLoadFailed?: () => void;
}

function OnDemand<P extends object>(given: OnDemandProps & { part: Part<P>; props: P }): ReactNode {
	const { part, props, fallback, onLoadFailed } = given;
	const [Loaded, request] = usePart(part, onLoadFailed);
	const isLoaded = Loaded !== undefined;
	useEffect(() => {
		if (!isLoaded) request();
	}, [isLoaded, request]);
	return Loaded ? <Loaded {...props} /> : fallback;
}

/** A component that is loaded when it is first rendered. */
export function onDemand<P extends object>(load: () => Promise<ComponentType<P>>) {
	const part: Part<P> = { load };
	return ({ fallback, onLoadFailed, ...props }: P & OnDemandProps) => (
		<OnDemand part={part} props={props as unknown as P} fallback={fallback} {...(onLoadFailed && { onLoadFailed })} />
	);
}
