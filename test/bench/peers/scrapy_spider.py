"""Scrapy: the same pages and selectors, results as JSON lines on disk. Says how long the crawl took, as JSON."""
import json
import os
import resource
import sys
import time

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

job = json.loads(sys.argv[1])
wanted = job["wanted"]
seen = {"pages": 0, "items": 0}


def pick(root, css, attr=None):
    found = root.css(css)
    if not found:
        return None
    if attr is not None:
        return found[0].attrib.get(attr)
    return " ".join(" ".join(found[0].css("*::text").getall()).split())


class Products(scrapy.Spider):
    name = "products"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.began, signals.spider_opened)
        crawler.signals.connect(spider.ended, signals.spider_closed)
        return spider

    def began(self):
        self.clock = time.perf_counter()
        self.cpu = time.process_time()

    def ended(self):
        seen["ms"] = (time.perf_counter() - self.clock) * 1000
        seen["cpuUs"] = (time.process_time() - self.cpu) * 1e6

    async def start(self):
        for n in range(job["from"], job["from"] + job["count"]):
            yield scrapy.Request(f"{job['site']}/product/{n}", dont_filter=True)

    def parse(self, response):
        seen["pages"] += 1
        if not job["parse"]:
            yield {"url": response.url, "bytes": len(response.body)}
            return
        found = {name: pick(response, *how) for name, how in wanted["fields"].items()}
        items = [
            {name: pick(each, *how) for name, how in wanted["item"].items()}
            for each in response.css(wanted["each"])
        ]
        seen["items"] += len(items)
        yield {"url": response.url, **found, "items": items}


process = CrawlerProcess(
    {
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": job["atOnce"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": job["atOnce"],
        "RETRY_ENABLED": False,
        "FEEDS": {job["file"]: {"format": "jsonlines", "overwrite": True}},
    }
)
process.crawl(Products)
process.start()
seen["rssMb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
seen["version"] = scrapy.__version__
with open(job["file"], encoding="utf-8") as stored:
    seen["stored"] = sum(1 for _ in stored)
os.remove(job["file"])
print(json.dumps(seen))
