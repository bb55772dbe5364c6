import { Button } from '@blueprintjs/core';
import type { QueryClient } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Route, Routes, useNavigate } from 'react-router';
import { capabilitiesQuery } from '../api/capabilities.js';
import { basePath } from '../api/client/basePath.js';
import { sessionQuery } from '../api/session/sessionQuery.js';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { lazyPage } from './lazyPage.js';
import { PageErrorBoundary } from './PageErrorBoundary.js';
import { ShareFrame } from './ShareFrame.js';

const frame = () => import('./Frame.js');
const landing = () => import('../pages/LandingPage.js');
const browser = () => import('../pages/BrowserPage.js');
const trash = () => import('../pages/TrashPage.js');
const share = () => import('../pages/SharePage.js');

const Frame = lazyPage(async () => (await frame()).Frame);
const LandingPage = lazyPage(async () => (await landing()).LandingPage);
const BrowserPage = lazyPage(async () => (await browser()).BrowserPage);
const TrashPage = lazyPage(async () => (await trash()).TrashPage);
const SharePage = lazyPage(async () => (await share()).SharePage);

/** The bundles of a page, by the first segment of its path. The page of a share has a frame that is a part of the app. */
const bundles = new Map<string, readonly (() => Promise<unknown>)[]>([
	['', [frame, landing]],
	['browser', [frame, browser]],
	['trash', [frame, trash]],
	['s', [share]],
]);

/** Fetches the bundles of the page at the address, and what its frame asks the server first, all at once and not one after another. */
export function preloadPage(client: QueryClient): void {
	const [name = ''] = location.pathname.slice(basePath.length + 1).split('/');
	const needed = bundles.get(name) ?? [frame];
	// Whoever renders them fetches them again, and says what has failed.
	for (const fetchBundle of needed) fetchBundle().catch(() => undefined);
	if (!needed.includes(frame)) return;
	void client.prefetchQuery(sessionQuery);
	void client.prefetchQuery(capabilitiesQuery);
}

/** Every page is rendered inside a frame and has its own bundle. */
export function AppRoutes() {
	return (
		<PageErrorBoundary>
			<Suspense>
				<Routes>
					<Route element={<Frame />}>
						<Route index element={<LandingPage />} />
						<Route path="browser/*" element={<BrowserPage />} />
						<Route path="trash" element={<TrashPage />} />
						<Route path="*" element={<NotFoundPage />} />
					</Route>
					<Route element={<ShareFrame />}>
						<Route path="s/:token/*" element={<SharePage />} />
					</Route>
				</Routes>
			</Suspense>
		</PageErrorBoundary>
	);
}

function NotFoundPage() {
	const navigate = useNavigate();
	return (
		<EmptyState titleTagName="h1" title={messages.pageNotFound}>
			<Button intent="primary" text={messages.home} onClick={() => navigate('/')} />
		</EmptyState>
	);
}
