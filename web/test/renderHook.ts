import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import type { Notice } from '../src/ui/notifications/notifications.js';
import { NotifyContext } from '../src/ui/notifications/useNotify.js';

export interface RenderedHook<T> {
	/** What the hook has returned. Its effects are not run. */
	result: T;
	/** The notices on screen, by their keys. */
	notices: ReadonlyMap<string, Notice>;
	queryClient: QueryClient;
}

function Probe({ run }: { run: () => void }) {
	run();
	return null;
}

/** Calls a hook once as a part of the page, within these providers. */
export function renderHook<T>(
	use: () => T,
	provide: (child: ReactElement) => ReactElement = (child) => child,
): RenderedHook<T> {
	const notices = new Map<string, Notice>();
	let count = 0;
	const notify = {
		notify(notice: Notice) {
			const key = notice.key ?? `notice-${++count}`;
			notices.set(key, notice);
			return key;
		},
		dismiss: (key: string) => void notices.delete(key),
	};
	let rendered: { result: T } | undefined;
	const run = () => {
		rendered = { result: use() };
	};
	const queryClient = new QueryClient();
	const page = createElement(NotifyContext, { value: notify }, provide(createElement(Probe, { run })));
	renderToString(createElement(QueryClientProvider, { client: queryClient }, page));
	if (!rendered) throw new Error('The hook was not called.');
	return { ...rendered, notices, queryClient };
}
