import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
const link = execFileSync('node',['/work/console/bin/mandate.js','console','link','--operator','--party','SANDBOX'],{cwd:'/tmp/console-sb',env:{...process.env,MANDATE_DATA:'/tmp/console-sb/data'}}).toString().trim();
console.log(link);
const b = await chromium.launch({executablePath: fs.existsSync('/usr/bin/chromium')?'/usr/bin/chromium':undefined,args:['--no-sandbox','--disable-gpu']});
const ctx = await b.newContext({viewport:{width:1280,height:900},locale:'en-GB'});
const page = await ctx.newPage(); page.on('console',m=>console.log('console:',m.text())); page.on('pageerror',e=>console.log('ERR',e.message));
await page.goto(link); await page.screenshot({path:'/tmp/console-sb/enter.png'});
await page.getByRole('button',{name:'Open the console'}).click();
await page.waitForSelector('tbody tr'); 
const shot = async (name) => { await page.waitForTimeout(300); await page.screenshot({path:`/tmp/console-sb/${name}.png`,fullPage:false}); };
await shot('payments-1280');
const base='http://127.0.0.1:8491/console';
const go = async (p,sel='h1')=>{ await page.goto(base+p); await page.waitForSelector(sel); await page.waitForTimeout(500)};
await page.getByPlaceholder(/An ID/).fill('0002'); await page.keyboard.press('Enter'); await page.waitForTimeout(700); await shot('search-1280');
await page.locator('tbody a').first().click(); await page.waitForSelector('.timeline li'); await shot('payment-1280');
const payUrl = page.url().slice(base.length);
for (const [w,h] of [[768,1024],[360,740]]) for (const scheme of ['light','dark']) {
  await page.setViewportSize({width:w,height:h}); await page.emulateMedia({colorScheme:scheme});
  await go('/payments','tbody tr'); await shot(`payments-${w}-${scheme}`);
  await go(payUrl,'.timeline li'); await shot(`payment-${w}-${scheme}`);
}
await page.setViewportSize({width:1280,height:900}); await page.emulateMedia({colorScheme:'dark'});
await go(payUrl,'.timeline li'); await shot('payment-1280-dark');
for (const p of ['payouts','webhooks','series','jobs','banks','nowhere']) { await go('/'+p); await shot(p+'-1280-dark'); }
await go('/webhooks','tbody a'); await page.locator('tbody a').last().click(); await page.waitForTimeout(800); await page.emulateMedia({colorScheme:'light'}); await shot('webhook-1280');
await go('/series','tbody a'); await page.locator('tbody a').first().click(); await page.waitForTimeout(800); await shot('one-series-1280');
await b.close();
