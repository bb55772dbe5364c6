import { OverlaysProvider } from '@blueprintjs/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { BrowserRouter } from 'react-router';
import { basePath } from '../api/client/basePath.js';
import { FirstLocation } from '../ui/firstLocation.js';
import { NotificationProvider } from '../ui/notifications/NotificationProvider.js';
import { NewVersionNotice } from './NewVersionNotice.js';
import { createQueryClient } from './queryClient.js';
import { AppRoutes, preloadPage } from './router.js';

export function App() {
	const [queryClient] = useState(() => {
		const client = createQueryClient();
		preloadPage(client);
		return client;
	});
	return (
		<QueryClientProvider client={queryClient}>
			<OverlaysProvider>
				<NotificationProvider>
					<NewVersionNotice />
					{/* Without transitions: what is pressed next, however soon, acts on the folder that was opened and not on the one before. */}
					<BrowserRouter basename={basePath === '' ? '/' : basePath} useTransitions={false}>
						<FirstLocation>
							<AppRoutes />
						</FirstLocation>
					</BrowserRouter>
				</NotificationProvider>
			</OverlaysProvider>
		</QueryClientProvider>
	);
}
