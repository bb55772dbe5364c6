import { Button } from '@blueprintjs/core';
import { lazy } from 'react';
import { Route, Routes, useNavigate } from 'react-router';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { Frame } from './Frame.js';
import { ShareFrame } from './ShareFrame.js';

const LandingPage = lazy(async () => ({ default: (await import('../pages/LandingPage.js')).LandingPage }));
const BrowserPage = lazy(async () => ({ default: (await import('../pages/BrowserPage.js')).BrowserPage }));

const TrashPage = lazy(async () => ({ default: (await import('../pages/TrashPage.js')).TrashPage }));
const SharePage = lazy(async () => ({ default: (await import('../pages/SharePage.js')).SharePage }));

/** Every page is rendered inside a frame and has its own bundle. */
export function AppRoutes() {
	return (
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
