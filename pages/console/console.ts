import './views/app.tsx';
