import { QueryClientProvider } from '@tanstack/react-query';
import { BrowserRouter } from 'react-router';
import { basePath } from '../api/client/basePath.js';
import { UploadQueueProvider } from '../features/uploadQueue/UploadQueueProvider.js';
import { NotificationProvider } from '../ui/notifications/NotificationProvider.js';
import { queryClient } from './queryClient.js';
import { AppRoutes } from './router.js';

export function App() {
	return (
		<QueryClientProvider client={queryClient}>
			<NotificationProvider>
				<UploadQueueProvider>
					{/* Without transitions: what is pressed next, however soon, acts on the folder that was opened and not on the one before. */}
					<BrowserRouter basename={basePath === '' ? '/' : basePath} useTransitions={false}>
						<AppRoutes />
					</BrowserRouter>
				</UploadQueueProvider>
			</NotificationProvider>
		</QueryClientProvider>
	);
}
