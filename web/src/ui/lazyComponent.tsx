import { type ComponentType, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { messages } from '../messages.js';
import { useNotify } from './notifications/useNotify.js';
import { useLatest } from './useLatest.js';

/** A component whose code is fetched when it is needed. */
export interface LazyModule<P> {
	load(): Promise<ComponentType<P>>;
	/** Once it was loaded: it is then shown at once wherever it is used. */
	loaded?: ComponentType<P>;
}

/**
 * The component once it is loaded, and the function that loads it. Loading fails when the server is not available, or
 * was updated since the page was opened: then a notice is shown, unless `isReported` is false, `onFailed` is called, and
 * the next request tries again.
 */
export function useLazyModule<P>(
	module: LazyModule<P>,
	onFailed?: () => void,
	isReported = true,
): [ComponentType<P> | undefined, () => void] {
	const { notify } = useNotify();
	// In an object, since a state that is a function would be called.
	const [{ Loaded }, setLoaded] = useState<{ Loaded?: ComponentType<P> | undefined }>({ Loaded: module.loaded });
	const latest = useLatest(onFailed);
	const request = useCallback(async () => {
		try {
			module.loaded = await module.load();
			setLoaded({ Loaded: module.loaded });
		} catch {
			// The browser has logged the failed request; its error names a file of the page, which does not help the user.
			if (isReported) notify({ intent: 'danger', message: messages.moduleFailed, detail: messages.moduleFailedReason });
			latest.current?.();
		}
	}, [module, notify, isReported]);
	return [Loaded, request];
}

export interface LazyComponentProps {
	/** Shown until it is loaded. */
	fallback?: ReactNode;
	onLoadFailed?: () => void;
	/** False where what is shown in its place says that it could not be loaded. @default true */
	isFailureReported?: boolean;
}

function LazyComponent<P extends object>(given: LazyComponentProps & { module: LazyModule<P>; props: P }): ReactNode {
	const { module, props, fallback, onLoadFailed, isFailureReported } = given;
	const isShown = useRef(true);
	// What is on screen instead by then has nothing to do with it.
	const onFailed = () => isShown.current && onLoadFailed?.();
	const [Loaded, request] = useLazyModule(module, onFailed, isFailureReported);
	const isLoaded = Loaded !== undefined;
	useEffect(() => {
		isShown.current = true;
		if (!isLoaded) request();
		return () => {
			isShown.current = false;
		};
	}, [isLoaded, request]);
	return Loaded ? <Loaded {...props} /> : fallback;
}

/** A component that is loaded when it is first rendered. */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>) {
	const module: LazyModule<P> = { load };
	return ({ fallback, onLoadFailed, isFailureReported = true, ...props }: P & LazyComponentProps) => (
		<LazyComponent
			module={module}
			props={props as unknown as P}
			fallback={fallback}
			isFailureReported={isFailureReported}
			{...(onLoadFailed && { onLoadFailed })}
		/>
	);
}
